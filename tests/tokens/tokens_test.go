// Package tokens holds the estimate of tokens against real tokenizers. It stands alone because they take longer to
// compile than everything else that `make test` needs of internal/mcp.
package tokens

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"

	"github.com/tiktoken-go/tokenizer"

	"github.com/git-rekal/git-rekal/internal/tokens"
)

// Sentences of the kind that sessions hold, in CJK.
const (
	chinese = `为什么令牌过早失效？因为 exp 声明是按本地时间比较的，而服务器使用的是协调世界时。我把比较改成了以秒为单位的整数，
并在测试里加入了时区不同的情况。缓存的清理任务每隔十分钟运行一次，如果数据库连接中断，它会在下一次提交时重新尝试，不会丢失任何记录。
请注意：配置文件里的密钥不应该提交到仓库，应当通过环境变量传递。部署之前先运行全部测试，然后检查日志中是否还有警告信息。`
	japanese = `トークンの有効期限が早く切れるのはなぜですか。有効期限をローカル時刻と比較していたためです。サーバーは協定世界時を使っているので、
秒単位の整数で比較するように変更し、タイムゾーンが異なる場合のテストを追加しました。データベースの接続が切れた場合は、次のコミットのときに
もう一度試みるので、記録は失われません。設定ファイルの秘密鍵はリポジトリに入れず、環境変数で渡してください。`
	korean = `토큰이 왜 일찍 만료되나요? 만료 시간을 현지 시간과 비교했기 때문입니다. 서버는 협정 세계시를 사용하므로 초 단위의 정수로 비교하도록
바꾸었고, 시간대가 다른 경우의 테스트를 추가했습니다. 데이터베이스 연결이 끊어지면 다음 커밋 때 다시 시도하므로 기록은 사라지지 않습니다.
설정 파일의 비밀 키는 저장소에 커밋하지 말고 환경 변수로 전달해야 합니다.`
)

// prose holds sentences in other languages that are written with Latin letters, which share few words
// with English.
func prose() map[string]string {
	return map[string]string{
		"german":     `Die Datenbank wurde geschlossen, bevor die Transaktion abgeschlossen war, was den Fehler erklärt. Wir haben deshalb die Reihenfolge geändert und die Zeitüberschreitung erhöht. Bitte prüfe die Konfigurationsdateien.`,
		"french":     `Tous les êtres humains naissent libres et égaux en dignité et en droits. La base de données a été fermée avant la fin de la transaction, ce qui explique l'erreur.`,
		"spanish":    `Todos los seres humanos nacen libres e iguales en dignidad y derechos. La base de datos se cerró antes de terminar la transacción, lo que explica el error.`,
		"italian":    `Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.`,
		"portuguese": `Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir uns para com os outros em espírito de fraternidade.`,
		"dutch":      `Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand en geweten, en behoren zich jegens elkander in een geest van broederschap te gedragen.`,
		"swedish":    `Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla gentemot varandra i en anda av gemenskap.`,
		"polish":     `Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.`,
		"turkish":    `Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.`,
	}
}

// TestLongTokensOfTexts: the estimate is never more than a tenth below what real tokenizers make of code,
// prose and CJK, and never two and a half times as much.
func TestLongTokensOfTexts(t *testing.T) {
	texts := prose()
	texts["chinese"], texts["japanese"], texts["korean"] = chinese, japanese, korean
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := strings.TrimSpace(string(root)) + "/src/"
	read(t, texts,
		source+"net/http/server.go", source+"encoding/json/*.go", source+"strconv/*.go", source+"crypto/sha256/*.go",
		source+"go/parser/*.go", source+"runtime/*_amd64.s", source+"../LICENSE", "../../internal/mcp/view/*.go",
		"../../*.md",
		"../../docs/*.md", "../../docs/man/*.1", "../../.golangci.yml", "../../templates/*.sh")
	compare(t, texts)
}

// TestLongTokensOfRealTexts does so on real questions.
func TestLongTokensOfRealTexts(t *testing.T) {
	texts := map[string]string{}
	read(t, texts, harness.Data(t, "ranking")+"/*.jsonl")
	compare(t, texts)
}

// read adds the beginnings of files, by their paths.
func read(t *testing.T, texts map[string]string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if raw, err := os.ReadFile(path); err == nil && len(raw) > 500 {
				texts[path] = strings.ToValidUTF8(string(raw[:min(len(raw), 10_000)]), "")
			}
		}
	}
}

func compare(t *testing.T, texts map[string]string) {
	t.Helper()
	if len(texts) == 0 {
		t.Fatal("no texts")
	}
	for _, encoding := range []tokenizer.Encoding{tokenizer.Cl100kBase, tokenizer.O200kBase} {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		low, high, sum := 9.0, 0.0, 0.0
		for name, text := range texts {
			real, err := codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			ratio := float64(tokens.Count(text)) / float64(real)
			low, high, sum = min(low, ratio), max(high, ratio), sum+ratio
			if ratio < 0.9 || ratio > 2.5 {
				t.Errorf("%s: %s: %d tokens, estimated as %.2f of that", encoding, name, real, ratio)
			}
		}
		t.Logf("%s: %d texts, %.2f to %.2f, %.2f on average", encoding, len(texts), low, high, sum/float64(len(texts)))
	}
}
