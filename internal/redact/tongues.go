package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foreignWords are what people call a password, a token or a key when they write to an agent in their own language: in
// lower case, without endings.
func foreignWords() []string {
	return []string{
		"passwrod", "pasword", "passowrd", // English
		// codes
		"sicherheitscode", "bestätigungscode", "einmalcode", "prüfcode", "verificatiecode", "code de vérification",
		"code de confirmation", "código de verificación", "código de confirmación",
		"código de verificação", "codice di verifica", "kod weryfikacyjny", "doğrulama kodu", "код подтверждения",
		"проверочный код", "验证码", "驗證碼", "認証コード", "確認コード", "인증번호", "인증 번호",
		// German
		"wifi key", "wi-fi key", "wlan key", "wpa key", "wlan-schlüssel", "wifi-schlüssel", "netzwerkschlüssel",
		"wifi-sleutel", "passwort", "kennwort", "passwört", "kennwört", "zugangscode", "geheimnis", "api-schlüssel",
		"api schlüssel", "zugriffsschlüssel", "geheimer schlüssel",
		"wachtwoord", "toegangscode", "api-sleutel", "api sleutel", // Dutch
		// the North
		"lösenord", "losenord", "adgangskode", "passord", "adgangsord", "salasana", "api-nyckel", "api-nøkkel", "api-nøgle",
		"api-avain",
		// French
		"mot de passe", "mots de passe", "mot de pass", "mdp", "phrase secrète", "phrase de passe", "clé secrète", "clé api",
		"clé d'api", "clé d'accès", "clé d’accès", "clef api", "jeton",
		// Spanish and Catalan
		"contraseña", "contrasena", "clave", "clave secreta", "clave de api", "clave api", "clave de acceso", "frase secreta",
		"secreto", "contrasenya",
		// Portuguese
		"senha", "palavra-passe", "palavra passe", "chave de api", "chave api", "chave secreta", "chave de acesso", "segredo",
		// Italian, Romanian, Turkish
		"parola d'ordine", "parola chiave", "chiave api", "chiave segreta", "chiave di accesso", "segreto", "parola",
		"parolă", "cheie api",
		"şifre", "sifre", "gizli anahtar", "api anahtarı", "erişim anahtarı", // Turkish
		// Polish to Greek
		"hasło", "haslo", "hasła", "klucz api", "tajny klucz", "heslo", "hesla", "api klíč", "api kľúč", "geslo", "lozinka",
		"lozinku", "jelszó", "jelszo", "jelszav", "κωδικός", "συνθηματικό",
		// Russian, Ukrainian, Bulgarian, Serbian
		"парол", "секретный ключ", "ключ api", "api-ключ", "api ключ", "ключ доступа", "токен", "секрет", "лозинка",
		"кодовая фраза",
		// further south
		"mật khẩu", "mat khau", "khóa api", "kata sandi", "sandi", "kunci api", "รหัสผ่าน", "पासवर्ड", "كلمة المرور",
		"كلمة السر", "رمز عبور", "סיסמה", "סיסמא", "סיסמת",
		// and others in Latin letters
		"parolu", "nenosiri", "cyfrinair", "pasfhocal", "parool", "parole", "slaptažodis", "kata laluan", "lykilorð",
		"zaporka", "wagwoord", "pasahitza", "contrasinal", "fjalëkalim", "pasvorto",
		// and not
		"كلمة مرور", "گذرواژه", "پسورد", "پاس ورڈ", "ססמה", "טוקן", "পাসওয়ার্ড", "கடவுச்சொல்", "პაროლი", "գաղտնաբառ",
		"құпия сөз",
		"密码", "密碼", "口令", "通行碼", "通行码", "密钥", "密鑰", "秘钥", "金鑰", "令牌", // Chinese
		"パスワード", "パスフレーズ", "パスコード", "トークン", "シークレット", "暗証番号", "apiキー", "api キー", "アクセスキー", "秘密鍵", "合言葉", // Japanese
		// Korean
		"비밀번호", "비번", "암호", "패스워드", "패스프레이즈", "토큰", "시크릿", "api 키", "api키", "액세스 키", "액세스키", "인증키", "인증 키", "비밀키", "비밀 키",
		"접근 키",
	}
}

// foreignKeywords are the words as a text may have them: small, with a capital, in capitals. Only
// ASCII letters are made small before keywords are looked for.
func foreignKeywords() []string {
	var out []string
	for _, w := range foreignWords() {
		first, n := utf8.DecodeRuneInString(w)
		out = append(out, lower(w), lower(string(unicode.ToUpper(first))+w[n:]), lower(strings.ToUpper(w)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// standsAlone reports whether a word is one, and not the end of another. Long words of languages that
// put words together may be ("Datenbankpasswort"), and scripts without letters' case have no spaces.
func standsAlone(t string, at window) bool {
	before, _ := utf8.DecodeLastRuneInString(t[:at.lo])
	first, _ := utf8.DecodeRuneInString(t[at.lo:])
	behind, _ := utf8.DecodeRuneInString(t[at.hi:])
	if first < caseless && at.hi-at.lo <= shortName && (unicode.IsLetter(behind) || unicode.IsDigit(behind)) {
		return false
	}
	if !unicode.IsLetter(before) && !unicode.IsDigit(before) || first >= caseless {
		return true
	}
	w := strings.ToLower(t[at.lo:at.hi])
	return strings.HasSuffix(w, "wort") || strings.HasSuffix(w, "wört") || strings.HasSuffix(w, "ord")
}

const (
	// shortName is the length in bytes up to which a name has no endings, and is found in random strings.
	shortName = 4
	// caseless is where scripts begin that have no capitals: Hebrew, Arabic, Thai, Chinese. Articles stand right before a
	// word there, or no spaces.
	caseless = '\u0590'
)
