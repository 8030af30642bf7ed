package redact

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// usages are commands, and behind ": " how they take a secret: behind one of the flags, also right
// behind it; with a sign at its end, the flag takes a user's name, that sign, and the secret. "*" is any
// argument, a sign alone the first one with a user's name before it, and "?" one of the next, if it can be nothing else, or a user's name stands before it.
//
//nolint:misspell // mosquitto is a program
const usages = `
mysql, mysqldump, mysqladmin, mysqlimport, mysqlshow, mariadb, mariadb-dump: -p^
mongodump, mongorestore, mongoexport, mongoimport, sshpass, twine, poetry, useradd, usermod, docker, podman, helm, ncftpput, ncftpget, rsh: -p
az, oc, cf, eas, expo, 7z, 7za, unrar, ssh-keygen, security, mongo, mongosh: -p -P -N -w
zip, unzip, ipmitool, sqlcmd, isql, bcp, mosquitto_pub, mosquitto_sub: -P
ldapsearch, ldapmodify, ldapadd, ldappasswd: -w -s
openssl: -k -K -passin -passout -pass -passwd -password
curl: -b= --cookie=
curl, http, https, httpie, wget: -u: -U: -a: --user: --proxy-user: --auth:
smbclient, rpcclient, winexe, net rpc, net ads: -U% --user%
lftp, ncftp: -u,
skopeo, buildah: --creds: --src-creds: --dest-creds:
redis-cli: -a
sqlplus, sqlldr, expdp, impdp, rman target: /
--user, --auth, --basic-auth, --credentials, --login: :
swaks: -ap
altool, notarytool: -p
plink, pscp, psftp, kadmin, kadmin.local: -pw
snmpwalk, snmpget, snmpset, snmpbulkwalk: -A -X -c
codecov, influx, gitlab-runner, wrangler, netlify, vercel: -t -r -T
gh secret, dotnet, choco: -b -k --body
rar: -hp -p
signtool, schtasks: /p /rp
snmp-server community, nickserv identify, createuser, htpasswd, mosquitto_passwd, rabbitmqctl, wpa_passphrase, pdftk, mkpasswd, mc alias, bw login, bw unlock, cf auth, api-key store, operator unseal, poetry config, net use, net user, ansible-vault encrypt_string: *
snyk auth, wandb login, cargo login, vault login, vault kv put, vault kv patch, vault write, composer config, grafana-cli admin, grafana cli: *
requirepass, masterauth, rootpw: *
user, pass, send, input text, login, signin, auth, rotate, encrypted with, decrypted with, unlock it with, unlock with, authtoken, add-authtoken, auth:token, setapikey, unlock, nuget push, service install, secrets set: ?
-p, -w, -a, -k, -t, -pw: ?
`

// usage is one way in which a command takes a secret.
type usage struct{ flag, sign string }

// commands are the usages by command.
func commands() map[string][]usage {
	out := map[string][]usage{}
	for line := range strings.Lines(usages[1:]) {
		names, flags, _ := strings.Cut(line, ": ")
		for _, name := range strings.Split(names, ", ") {
			for flag := range strings.FieldsSeq(flags) {
				bare := strings.TrimRight(flag, ":%,=^/")
				out[name] = append(out[name], usage{bare, flag[len(bare):]})
			}
		}
	}
	return out
}

// command finds what commands take as secrets.
func command(all map[string][]usage) func(t string, at window) []window {
	return func(t string, at window) []window {
		if at.hi >= len(t) || t[at.hi] != ' ' && t[at.hi] != '\t' || at.lo > 0 && (alnumeric(t[at.lo-1]) || strings.IndexByte("_-.", t[at.lo-1]) >= 0) {
			return nil
		}
		args := arguments(t, at.hi)
		var out []window
		for _, u := range all[strings.ToLower(t[at.lo:at.hi])] {
			for i := range args {
				a, least := u.secret(t, at, args, i)
				if a.lo >= a.hi || t[a.lo] == '@' || t[a.lo] == '*' {
					continue
				}
				v, quoted := t[a.lo:a.hi], quoteAt(t, a.lo-1)
				if l := lookOf(judged(v), true); l >= least && (least < odd || !isSumForm(v)) || quoted && least <= marked && phraseForm.MatchString(v) && !aboutItself(v) {
					out = append(out, a)
				}
			}
		}
		return out
	}
}

// secret is what the usage takes for one at the i-th argument, and how it looks at least.
func (u usage) secret(t string, at window, args []window, i int) (window, look) {
	a := args[i]
	v := t[a.lo:a.hi]
	switch {
	case u.flag == "*":
		a.lo += strings.IndexByte(strings.TrimRight(v, "="), '=') + 1
		if i == 0 && slices.ContainsFunc(args[1:], func(b window) bool { return t[b.lo] != '-' }) {
			return a, odd
		}
		return a, marked
	case u.flag == "?":
		if i > 2 || i > 0 && t[at.lo] == '-' {
			return window{}, never
		}
		word := t[at.lo:at.hi]
		if protocol := letters(word) && strings.ToUpper(word) == word; lookOf(v, true) == marked && (protocol && i < 2 && !constant.MatchString(v) || userFlag.MatchString(t[max(0, at.lo-maxReach):at.lo])) {
			return a, marked
		}
		return a, odd
	case u.flag == "" && (i > 0 || !alnumeric(v[0])):
		return window{}, never
	case !strings.HasPrefix(v, u.flag):
		return window{}, never
	case len(v) > len(u.flag) && v[:len(u.flag)] == u.flag && v != u.flag+"=":
		a.lo += len(u.flag)
		a.lo += skipped(t[a.lo:a.hi], "=")
	case i+1 < len(args):
		a = args[i+1]
		if u.sign == "^" && (a.lo < 2 || !quoteAt(t, a.lo-1) || t[a.lo-2] == ' ') { // a base's name
			return a, odd
		}
	default:
		return window{}, never
	}
	if u.sign == "" || u.sign == "^" {
		a.lo += len("pass:") * strings.Count(t[a.lo:min(a.lo+5, a.hi)], "pass:")
		return a, word
	}
	n := strings.Index(t[a.lo:min(len(t), a.hi+1)], u.sign)
	if n < 0 {
		return window{}, never
	}
	if u.sign == "=" { // a cookie
		a.hi = a.lo + n + 1 + strings.IndexByte(t[a.lo+n+1:a.hi]+";", ';')
	}
	if u.flag == "" {
		a.lo += n + 1
		return a, marked
	}
	if a.lo += n + 1; a.lo >= a.hi && i+2 < len(args) { // the secret has quotes of its own
		a = args[i+2]
	}
	return a, word
}

// userFlag is a flag for a user's name in the same command.
var userFlag = lazy.Expr(`\s(?:-[uUlnD]|--?user(?:name)?|-login)[ =][^\n|;]*$`)

// maxArguments is how many arguments of a command are looked at.
const maxArguments = 24

// arguments are those of the command at i, up to its end. A part in quotes is an argument.
func arguments(t string, i int) []window {
	var out []window
	for len(out) < maxArguments {
		for i = skip(t, i, " \t"); strings.HasPrefix(t[i:], "\\\n"); {
			i = skip(t, i+2, " \t")
		}
		if i >= len(t) || strings.IndexByte("\r\n|;&<>()", t[i]) >= 0 {
			break
		}
		lo, hi, _ := value(t, i)
		if lo < hi {
			out = append(out, window{lo, hi})
		}
		if hi < len(t) && strings.IndexByte("\"'`", t[hi]) >= 0 && (lo > i || hi == i) {
			hi++
		}
		i = max(hi, i+1)
	}
	return out
}

// piped finds what echo or a here-string hands to a command that reads a secret.
func piped(t string, at window) []window {
	var args []window
	rest := ""
	if t[at.lo] == '<' {
		args, rest = arguments(t, at.hi), t[max(0, at.lo-maxReach):at.lo]
		rest = rest[strings.LastIndexByte(rest, '\n')+1:]
		args = args[:min(1, len(args))]
	} else {
		args = arguments(t, at.hi)
		if len(args) == 0 {
			return nil
		}
		end := args[len(args)-1].hi
		rest = t[end:min(len(t), end+maxReach)]
		rest, _, _ = strings.Cut(rest, "\n")
		if m := pipe.FindStringIndex(rest); m == nil {
			rest = asked.FindString(t[max(0, at.lo-40):at.lo])
		}
	}
	if !reader.MatchString(rest) {
		return nil
	}
	var out []window
	for _, a := range args {
		v := t[a.lo:a.hi]
		if n := strings.Index(v, `\n`); n >= 0 {
			a.hi = a.lo + n
		}
		if n := userBefore.FindStringIndex(t[a.lo:a.hi]); n != nil {
			a.lo += n[1]
		}
		if v = t[a.lo:a.hi]; len(v) >= 4 && !placeholder(v) && (!isWord(v) && lookOf(v, true) > plain && !strings.HasPrefix(v, "-") && !strings.Contains(v, " ") || len(v) >= minValue && stdin.MatchString(rest) && (lookOf(v, true) >= word || phraseForm.MatchString(v)) || phrase(v)) {
			out = append(out, a)
		}
	}
	return out
}

var (
	pipe = lazy.Expr("^[\"'`]?\\s*\\|")
	// asked is an argument that names a secret, and holds the command for it.
	asked      = lazy.Expr(`(?:passw\w*|passphrase|token|secret)[\w-]*[= ]["'<($` + "`" + `]*$`)
	userBefore = lazy.Expr(`^[a-z][\w.-]{0,31}:`)
	// stdin is what makes a command read nothing but a secret there.
	stdin = lazy.Expr(`stdin|chpasswd|sudo -S|secrets? create|luks|cryptsetup`)
	// reader is a command that reads a secret.
	reader = lazy.Expr(`(?i)\b(?:sudo -S|su|pass|kinit|chpasswd|smbpasswd|cryptsetup|gpg|-passin|login|auth|[\w-]*passw\w*|passphrase|[\w-]*token|secrets?|credentials?)\b`)
)

// passArgument is the value behind what says that it is one, in arguments and in files of users.
func passArgument(t string, at window) (int, int) {
	lo, hi, quoted := value(t, at.hi)
	if t[at.hi-1] == '}' { // a field of a file of users
		hi = lo + strings.IndexByte(t[lo:hi]+":", ':')
	}
	if at.lo > 0 && alnumeric(t[at.lo]) && alnumeric(t[at.lo-1]) || lookOf(judged(t[lo:hi]), quoted) < marked {
		return 0, 0
	}
	return lo, hi
}
