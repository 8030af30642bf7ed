package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
)

// voice makes up what a session says: sentences about a few things that it keeps coming back
// to, so that sessions differ in their words as real ones do, from a vocabulary that is used
// as unevenly as a real one, with names that nobody else uses.
type voice struct {
	rng    *rand.Rand
	topics []string // things that this session is about
	names  []string // identifiers that it keeps using
}

func newVoice(seed uint64, author, s int) *voice {
	v := &voice{rng: rand.New(rand.NewPCG(seed, uint64(author)<<32|uint64(s)))}
	for range 3 {
		v.topics = append(v.topics, v.one(things))
	}
	for range 5 {
		v.names = append(v.names, v.camel())
	}
	return v
}

func sha256Of(text string) [32]byte { return sha256.Sum256([]byte(text)) }

func (v *voice) n(below int) int { return v.rng.IntN(below) }

func (v *voice) uuid() string {
	h := sha256Of(fmt.Sprint(v.rng.Uint64(), v.rng.Uint64()))
	x := hex.EncodeToString(h[:16])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}

// one picks a word; those at a list's beginning are picked more often.
func (v *voice) one(of []string) string {
	u := v.rng.Float64()
	return of[int(u*u*float64(len(of)))]
}

func (v *voice) name() string { return v.names[v.n(len(v.names))] }

// camel makes an identifier.
func (v *voice) camel() string {
	var b strings.Builder
	for i := range 2 + v.n(2) {
		word := []rune(v.one([][]string{actions, things, kinds}[v.n(3)]))
		if i > 0 {
			word[0] = unicode.ToUpper(word[0])
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// say fills the places of a sentence.
func (v *voice) say(sentence string) string {
	var b strings.Builder
	for _, r := range sentence {
		switch r {
		case 'α':
			b.WriteString(v.topics[v.n(len(v.topics))])
		case 'β':
			b.WriteString(v.one(things))
		case 'γ':
			b.WriteString(v.name())
		case 'δ':
			b.WriteString(v.one(actions))
		case 'ε':
			b.WriteString(v.one(troubles))
		case 'ζ':
			b.WriteString(v.one(kinds))
		case 'η':
			fmt.Fprint(&b, v.n(1000))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (v *voice) subject() string {
	s := v.say(v.one(subjects))
	return strings.ToUpper(s[:1]) + s[1:]
}

func (v *voice) prompt(first bool) string {
	list := replies
	if first {
		list = questions
	}
	out := v.say(v.one(list))
	for range v.n(3) {
		out += " " + v.say(v.one(replies))
	}
	return out
}

func (v *voice) answer() string {
	var out []string
	for range 2 + v.n(7) {
		out = append(out, v.say(v.one(answers)))
	}
	return strings.Join(out, " ")
}

func (v *voice) command() string { return v.say(v.one(commands)) }

var (
	subjects = []string{
		"δ the α before the β", "fix ε in the α", "let γ take the ζ β", "let the α δ its β", "drop γ, which nobody calls",
		"report ε of the β with its cause", "test the ζ α", "move γ into the α", "bound how long the α waits for the β",
	}
	questions = []string{
		"Since yesterday's release the α shows ε, can you find out why?", "I want the α to δ the β only once. How would you do it?",
		"Why is γ so slow when the β is ζ?", "Please δ the α; the β must stay as it is.", "There is a report of ε in γ after η requests.",
		"We need the ζ α. Look at how the β does it first.", "The test of γ fails on CI but not here, with ε.",
		"Could the α and the β share one γ?", "Customer η says that the α loses its β after a restart.",
	}
	replies = []string{
		"Yes, go on.", "No, leave the β alone, δ the α instead.", "And what if the β is ζ?", "Add a test with η of them, please.",
		"Why not δ it in γ?", "Isn't that ε as we had in the β?", "I'd rather have it fail than δ silently.", "Looks good, but name it γ.",
		"What does it cost when there are η of them?", "Do it, and δ the ζ one too.",
	}
	answers = []string{
		"I'll look at γ first.", "The α reads the β twice: once in γ and once when it is ζ.", "That explains ε: γ never sees the new β.",
		"I changed γ so that it will δ the α before it touches the β.", "There are η callers, and all but one expect the ζ α.",
		"The test passes now; without the change it fails with ε after η ms.", "Two ways: δ the β in place, or keep the α ζ and δ it at the end.",
		"I prefer the second, since the ζ β can't be told from an old one.", "γ holds on to the β until the α is done, hence ε.",
		"When the β is ζ, γ returns early and nobody will δ the α.", "I measured η ms before and η ms after with the ζ α.",
		"Nothing else calls γ, so I removed it together with its β.", "This was introduced when γ began to δ every α.",
		"The order matters here: first the β, then γ, and the α last.", "I left the ζ case alone and wrote down why.",
		"Run it again with η workers to see ε.", "The error now names the α and its cause instead of only ε.",
	}
	commands = []string{
		"go test ./internal/β/... -run γ", "git log -S γ --oneline", "grep -rn γ internal/", "go vet ./...", "make lint",
		"curl -s localhost:8080/β | jq .α", "npm test -- γ", "psql -c 'select count(*) from β'",
	}
	things = strings.Fields(`session token cache queue worker index schema migration router handler parser lexer buffer stream
		socket cookie header proxy invoice ledger webhook scheduler retry backoff deadline lease lock snapshot replica shard
		partition cursor transaction journal checkpoint archive manifest bundle plugin extension feature flag experiment cohort
		metric histogram trace span sampler dashboard alert pager runbook tenant account subscription coupon refund payment
		currency locale timezone calendar reminder notification template mailer inbox attachment thumbnail encoder decoder
		codec transcoder playlist subtitle comment thread mention reaction moderation report audit permission role policy
		certificate keyring vault rotation handshake cipher digest signature nonce challenge captcha throttle quota bucket
		region zone cluster node pod container volume mount image registry pipeline artifact release rollback canary`)
	actions = strings.Fields(`retry flush rebuild merge split validate encode decode normalise cache evict refresh renew expire
		schedule cancel dispatch buffer batch stream throttle reject accept sign verify rotate encrypt compress archive restore
		replay rewind truncate append sort group filter count sample trace measure log report notify subscribe publish lock
		release acquire join detach clone copy move rename delete restore upgrade migrate backfill`)
	kinds = strings.Fields(`empty stale nested shared remote local temporary cached expired invalid partial duplicate concurrent
		idle blocked detached readonly encrypted compressed ordered unordered sparse dense legacy experimental anonymous
		internal external optional mandatory lazy eager bounded huge tiny nightly weekly foreign broken`)
	troubles = []string{
		"a timeout", "a deadlock", "a race", "an off-by-one", "a leak of memory", "a panic on nil", "stale reads", "lost updates",
		"duplicate rows", "a broken pipe", "an unexpected EOF", "a wrong order", "drift of the clock", "a thundering herd",
		"a permission error", "mojibake", "a rounding error", "an endless loop", "a stack overflow", "a cold start", "flapping",
	}
	firstNames = strings.Fields(`ada bo carla dmitri eve farid grace hiro ines jonas kemi lars mei noor otto priya quinn rosa
		sven tara umar vera wim xenia yusuf zoe`)
	lastNames = strings.Fields(`arden berg castro dahl eriksen fontaine gupta hansen ito jensen`)
)
