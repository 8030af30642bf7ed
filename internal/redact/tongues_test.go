package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestTongues: a password, token or key that is named in another language than English is gone,
// and what is said around it stays. {} stands for the value, of each of four kinds.
func TestTongues(t *testing.T) {
	frames := []string{
		"Passwort: {}", "Das Passwort lautet {}", "Kennwort = {}", "PASSWORT={}",
		"Das Passwort für die Datenbank ist {}, bitte eintragen.",
		"Das Datenbankpasswort ist `{}`.", "API-Schlüssel: {}", "**Passwort:** {}", "| Passwort | {} |", "DB_PASSWORT={}",
		"Passwörter: {}",
		"비밀번호: {}", "비밀번호는 {} 입니다", "암호={}", "암호는 `{}`야", "비번은 {}", "패스워드: {}", "API 키: {}", "토큰: {}", "비밀번호는 {}입니다.",
		"DB 비밀번호를 {}로 바꿔줘",
		"mot de passe : {}", "le mot de passe est « {} »", "MOT DE PASSE : {}", "mdp: {}", "la clé API est {}",
		"contraseña: {}", "la contraseña del servidor es {}", "Contraseña={}", "CONTRASEÑA={}", "senha: {}",
		"a senha do banco é {}", "la parola d'ordine è {}",
		"пароль: {}", "Пароль от базы: {}", "пароль базы {}", "ПАРОЛЬ={}", "с паролем {} не работает", "токен: {}",
		"密码是{}", "密码：{}", "密碼: {}", "密码是“{}”，不要提交", "请把密码改成{}。", "密钥：{}", "令牌={}",
		"パスワード：{}", "パスワードは「{}」です", "パスワードは{}です。", "APIキー: {}", "トークン：{}",
		"the password (비밀번호) is {}", "şifre: {}", "Şifre: {}", "İşte şifre: {}", "İşte DB_PASSWORD={}", "hasło: {}",
		"hasło to {}", "wachtwoord: {}", "Het wachtwoord is {}", "lösenord: {}",
		"mật khẩu: {}", "jelszó: {}", "heslo: {}", "password：{}", "DB_PASSWORD＝{}", "환경변수 DB_PASSWORD={}로 설정해",
		"기존 password는 {} 인데", "token은 {} 이고",
		"password 是 {}", "password: 비밀번호7하늘별{}", "api key是{}", "passwordは{}です",
	}
	r := redact.New()
	d := draw{rand.New(rand.NewPCG(8, 8))}
	for _, frame := range frames {
		t.Run(frame, func(t *testing.T) {
			for _, v := range []string{
				"Xk" + d.of(2, digits) + "dLq!m" + d.of(1, digits),
				"q" + d.of(7, alnum) + "-" + d.of(4, digits) + "Z", "Harbor" + d.of(4, digits) + "!x", d.of(20, alnum) + "7a",
			} {
				in := strings.Replace(frame, "{}", v, 1)
				got := applyText(t, r, in)
				before, after, _ := strings.Cut(frame, "{}")
				before, _, _ = strings.Cut(before, "비밀번호7하늘별")
				if strings.Contains(got, v) || !strings.HasPrefix(got, before) ||
					!strings.HasSuffix(got, after) && strings.Trim(after, "!.") != "" && !strings.HasPrefix(after, "로") {
					t.Errorf("%q became %q", in, got)
				}
			}
		})
	}
}

// TestTonguesSurvive: what people say about passwords in their language is no password.
func TestTonguesSurvive(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"Das Passwort wird mit bcrypt gehasht, siehe internal/auth/hash2.go und Commit 3f2a91bc0d.", "Passwort: siehe README",
		"Passwortlänge: mindestens 12 Zeichen",
		"비밀번호 폼을 고쳐줘, 커밋 3f2a91bc0d4e 참고", "비밀번호: string", "토큰 갱신은 auth2.go에서 한다", "토큰 수: 128000", "암호화 모듈 AES256 사용",
		"비밀번호는 필수입니다", "토큰 이슈 PROJ-12345 확인",
		"密码字段用 password2，见 src/login2.ts", "密码：必填", "トークン数：4096", "パスワードは8文字以上", "パスワード: string",
		"le mot de passe est haché avec argon2id",
		"mot de passe : obligatoire", "la clave del mapa es userId2", "clave: valor", "la enclave: Xk59dLq9m4x",
		"contraseña: <tu-contraseña>", "пароль: ${DB_PASSWORD}", "пароль хранится в таблице users2024",
		"senha: process.env.SENHA_BANCO", "desenha: elementos_2024", "密码是 os.Getenv(\"DB_PASSWORD\")", "şifre: yok",
		"token은 jwt.decode(token2)로 읽는다", "password는 config.go에서 읽는다", "토큰은 2026-11-21에 만료", "비밀번호: 010-1234-5678",
		"el secreto: https://example.com/docs/api", "секрет: см. docs/secret.md", "トークンは auth/token_v2.go を参照",
		"令牌桶算法: rate_limiter_v2",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
