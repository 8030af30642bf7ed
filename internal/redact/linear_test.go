package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// dense are texts full of names and values, of about n bytes.
func dense(n int) map[string]string {
	d := draw{rand.New(rand.NewPCG(1, 1))}
	fill := func(next func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(next(i))
		}
		return b.String()
	}
	always := func(s string) func(int) string { return func(int) string { return s } }
	return map[string]string{
		"users in JSON": fill(func(i int) string {
			return fmt.Sprintf(`{"id":%d,"name":"user%d","password":"%s","token":"%s","email":"u%d@acme.dev"},`, i, i,
				d.password(), d.of(32, alnum), i)
		}),
		"users in JSON, one a line": fill(func(i int) string {
			return fmt.Sprintf("{\"id\": %d, \"password\": \"%s\", \"token\": \"%s\"},\n", i, d.password(), d.of(32, hex))
		}),
		"users in JSON in JSON": fill(func(i int) string {
			return fmt.Sprintf(`{\"id\":%d,\"password\":\"%s\",\"token\":\"%s\"},\n`, i, d.password(), d.of(32, alnum))
		}),
		"settings":       fill(func(i int) string { return fmt.Sprintf("SERVICE_%d_PASSWORD=%s\n", i, d.password()) }),
		"password=":      fill(always("password=")),
		"names":          fill(always("keytoken")),
		"names, apart":   fill(always("password token ")),
		"two letters":    fill(always("pw ")),
		"a flag":         fill(always("-p ")),
		"at":             fill(always("a@b ")),
		"a word":         fill(always("ab ")),
		"quotes":         fill(always(`"password" `)),
		"brackets":       fill(always("password(")),
		"begin":          fill(always("-----BEGIN PRIVATE KEY-----\n")),
		"end":            fill(always("-----END PRIVATE KEY-----\n")),
		"key words":      fill(always("private key ")),
		"one run":        fill(always(d.of(60, alnum+"_-"))),
		"colons":         fill(always("a:")),
		"slashes":        fill(always("://")),
		"hooks":          fill(always("https://hook/")),
		"cookies":        fill(always("cookie: sid=a; ")),
		"commands":       fill(always("mysql -p echo ")),
		"escapes":        fill(always(`\"password\" `)),
		"percent":        fill(always(`%70assword%3D`)),
		"kty":            fill(always(`{"kty":"`)),
		"table":          fill(always("| password | token |\n")),
		"commas":         fill(always("password,")),
		"akia":           fill(always("akia ")),
		"discord":        fill(always("discord.M")),
		"phrase":         fill(always("seed phrase ")),
		"separated":      fill(always("pAss0000(pAssword(&")),
		"list":           fill(always(strings.Repeat("Token9x|", 120) + " ")),
		"words of names": fill(always(strings.Repeat("secret-9", 120) + " ")),
		"assignments":    fill(always(strings.Repeat("pAss0000=", 100) + " ")),
		"strings":        fill(always(`"secret9",`)),
		"all keywords":   fill(func(i int) string { return keywords[i%len(keywords)] + []string{"=", " ", ": ", "-"}[i%4] }),
		"one value":      "password: Xk9xKZjPEO6DvM4q\n" + fill(always("Xk9xKZjPEO6DvM4q ")),
		"like values": fill(func(i int) string {
			return "password='" + strings.Repeat("a1", 4+i%100) + fmt.Sprint(i) +
				"' "
		}),
	}
}

// keywords are words that wake rules.
var keywords = strings.Fields("password token secret key auth adafruit algolia atlassian bitbucket codecov cohere confluent datadog dropbox facebook fastly finnhub flickr gitter grafana heroku " +
	"hubspot intercom jfrog kraken kubernetes linkedin lob mailchimp mailgun mapbox mattermost meraki netlify okta plaid sendbird sentry shippo snyk sonar square sumo telegram travis trello twitch twitter zendesk yandex")

// TestLinear: the work on a text is in proportion to its size, whatever stands in it.
func TestLinear(t *testing.T) {
	const n = 100_000
	one, two := dense(n), dense(2*n)
	for name := range one {
		t.Run(name, func(t *testing.T) {
			work := func(text string) int64 {
				r := redact.New()
				applyText(t, r, text)
				return r.Work()
			}
			a, b := work(one[name]), work(two[name])
			t.Logf("%.1f bytes of work a byte", float64(b)/(2*n))
			if float64(b) > 2.2*float64(a) || b > mostWork*2*n {
				t.Errorf("work of %d for %d bytes, %d for twice as many", a, n, b)
			}
		})
	}
}

// FuzzWork looks for a piece of text that makes more work than in proportion, wherever it is repeated.
func FuzzWork(f *testing.F) {
	for _, text := range dense(40) {
		f.Add(text, " ")
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, piece, between string) {
		if piece = strings.ToValidUTF8(piece, ""); len(piece) == 0 || len(piece)+len(between) > 2000 {
			return
		}
		work := func(size int) (bytes, work int64) {
			text := strings.Repeat(piece+between, 1+size/(len(piece)+len(between)))
			before := r.Work()
			applyText(t, r, text)
			return int64(len(text)), r.Work() - before
		}
		one, a := work(2_000)
		two, b := work(8_000)
		if b > mostWork*two || b*one > 2*a*two+mostWork*one*1000 {
			t.Errorf("%q and %q: work of %d for %d bytes, %d for %d", piece, between, a, one, b, two)
		}
	})
}

// mostWork is how often a byte is looked at, at most, on average over a text.
const mostWork = 120

func BenchmarkDense(b *testing.B) {
	for name, text := range dense(1_000_000) {
		b.Run(name, func(b *testing.B) {
			r := redact.New()
			applyText(b, r, text[:1000])
			before, n := userTime(b), 0
			for b.Loop() {
				applyText(b, r, text)
				n++
			}
			b.ReportMetric(float64(len(text)*n)/1e6/(userTime(b)-before).Seconds(), "MB/user-s")
		})
	}
}
