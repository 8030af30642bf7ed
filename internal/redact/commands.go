package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// usages are commands, and behind ": " how they take a secret: behind one of the flags, also right behind it; with a
// sign at its end, the flag takes a user's name, that sign, and the secret. "*" is any argument, a sign alone the first
// one with a user's name before it, and "?" one of the next, if it can be nothing else, or a user's name stands before
// it.
//
//nolint:misspell // mosquitto is a program
const usages = `
mysql, mysqldump, mysqladmin, mysqlimport, mysqlshow, mariadb, mariadb-dump: -p^
mongodump, mongorestore, mongoexport, mongoimport, sshpass, twine, poetry, useradd, usermod, docker, podman, helm, ncftpput, ncftpget, rsh, altool, notarytool: -p
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
plink, pscp, psftp, kadmin, kadmin.local: -pw
snmpwalk, snmpget, snmpset, snmpbulkwalk: -A -X -c
codecov, influx, gitlab-runner, wrangler, netlify, vercel: -t -r -T
gh secret, dotnet, choco: -b -k --body
rar: -hp -p
signtool, schtasks: /p /rp
snmp-server community, nickserv identify, createuser, htpasswd, mosquitto_passwd, rabbitmqctl, wpa_passphrase, pdftk, mkpasswd, rclone obscure, mc alias, bw login, bw unlock, cf auth, api-key store, operator unseal, poetry config, net use, net user, ansible-vault encrypt_string: *
requirepass, masterauth, rootpw, bindpw, enable secret, snyk auth, wandb login, cargo login, vault login, vault kv put, vault kv patch, vault write, composer config, grafana-cli admin, grafana cli: *
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

// commandDetector is a detector of what commands take as secrets.
func commandDetector(all map[string][]usage) func(s *scanner, at window) {
	return func(s *scanner, at window) {
		t := s.t
		if at.hi >= len(t) || t[at.hi] != ' ' && t[at.hi] != '\t' ||
			at.lo > 0 && (isWordByte(t[at.lo-1]) || t[at.lo-1] == '-' || t[at.lo-1] == '.') {
			return
		}
		args := s.arguments(at.hi)
		for _, u := range all[s.low[at.lo:at.hi]] {
			for i := range args {
				a, want := u.secretAt(t, at, args, i)
				if a.lo >= a.hi || t[a.lo] == '@' || t[a.lo] == '*' {
					continue
				}
				v := t[a.lo:a.hi]
				if l := gradeOf(v, true); l >= want && (want < passwordLike || !isHashOrID(v) && !isConstant(v)) ||
					isQuoteAt(t, a.lo-1) && want <= wordPlus && isText(v) {
					s.addFound(a.lo, a.hi, "generic-command", at)
				}
			}
		}
	}
}

// secretAt is what the usage takes for a secret at the i-th argument, and the least grade of a secret there.
func (u usage) secretAt(t string, at window, args []window, i int) (a window, least grade) {
	a = args[i]
	v := t[a.lo:a.hi]
	switch {
	case u.flag == "*":
		a.lo += strings.IndexByte(strings.TrimRight(v, "="), '=') + 1
		return a, wordPlus
	case u.flag == "?" && i <= 2 && (i == 0 || t[at.lo] != '-' && !isName(t[at.lo:at.hi])):
		return a, passwordLike
	case u.sign == ":" && len(u.flag) == 2 && i+1 < len(args) && flagsWith(v, u.flag[1]): // "-su bob:…"
		a = args[i+1]
	case u.flag == "?", u.flag == "" && (i > 0 || !isAlphanumeric(v[0])), !strings.HasPrefix(v, u.flag):
		return window{}, never
	case len(v) > len(u.flag) && v != u.flag+"=":
		a.lo = skip(t[:a.hi], a.lo+len(u.flag), "=")
	case i+1 == len(args):
		return window{}, never
	default:
		a = args[i+1]
		if u.sign == "^" && (a.lo < 2 || !isQuoteAt(t, a.lo-1) || t[a.lo-2] == ' ') { // a base's name
			return a, passwordLike
		}
	}
	if u.sign == "" || u.sign == "^" {
		a.lo += len("pass:") * strings.Count(t[a.lo:min(a.lo+5, a.hi)], "pass:")
		return a, wordLike
	}
	n := strings.Index(t[a.lo:min(len(t), a.hi+1)], u.sign)
	if n < 0 {
		return window{}, never
	}
	if a.lo += n + 1; u.flag == "" {
		return a, wordPlus
	} else if a.lo >= a.hi && i+2 < len(args) { // the secret has quotes of its own
		return args[i+2], wordLike
	}
	return a, wordLike
}

// flagsWith reports whether v is several flags of one letter, the last of them a given one.
func flagsWith(v string, last byte) bool {
	return len(v) > 2 && len(v) < 7 && v[0] == '-' && onlyLetters(v[1:]) && v[len(v)-1] == last
}

// arguments are those of the command at i, up to its end. A part in quotes is an argument.
func (s *scanner) arguments(i int) []window {
	const most, reach = 24, 1 << 10
	// of a command within a command
	if n, found := slices.BinarySearchFunc(s.args, i, func(a window, i int) int { return cmp.Compare(a.hi, i) }); found {
		return s.args[n+1:]
	}
	t := s.t
	var out []window
	for from := i; len(out) < most && i-from < reach; {
		for i = skip(t, i, " \t"); strings.HasPrefix(t[i:], "\\\n"); {
			i = skip(t, i+2, " \t")
		}
		if i >= len(t) || strings.IndexByte("\r\n|;&<>()", t[i]) >= 0 {
			break
		}
		lo, hi, closed := stringAt(t, i)
		if !closed {
			lo = skip(t, i, "\"'`")
			_, hi = s.valueAt(lo)
			hi = max(hi, s.valueEnd(lo, true))
		}
		if lo < hi {
			out = append(out, window{lo, hi})
		}
		if isQuoteAt(t, hi) && (lo > i || hi == i) {
			hi++
		}
		s.work += max(1, hi-i)
		i = max(hi, i+1)
	}
	s.args = out
	return out
}

// pipedSecret is a detector of what echo or a here-string hands to a command that reads a secret.
func pipedSecret(s *scanner, at window) {
	t := s.t
	args := s.arguments(at.hi)
	if len(args) == 0 {
		return
	}
	rest := lineRest(t, args[len(args)-1].hi)
	if t[at.lo] == '<' {
		args = args[:1]
		rest = t[lineOf(t, at.lo, at.lo, maxReach).lo:at.lo]
	} else if !strings.HasPrefix(strings.TrimLeft(rest, "\"'` "), "|") {
		rest = t[max(0, at.lo-40):at.lo] // an argument that names a secret may hold the command for it
		if !strings.HasSuffix(strings.TrimRight(rest, "\"'<($`"), "=") {
			return
		}
	}
	s.work += len(rest)
	if !reader.MatchString(rest) {
		return
	}
	for _, a := range args {
		v, _, _ := strings.Cut(t[a.lo:a.hi], `\n`)
		if name, value, given := strings.Cut(v, "="); given && isName(name) {
			if AboutSecret(name) { // "host=" is what git's helpers read
				continue
			}
			v = value
		}
		v = v[userPrefixSize(v):]
		l := gradeOf(v, true)
		if !isWord(v) && l > noSecret || len(v) >= minValue && stdin.MatchString(rest) && (l >= wordLike || isText(v)) ||
			isPhrase(v) {
			lo := a.lo + strings.Index(t[a.lo:a.hi], v)
			s.addFound(lo, lo+len(v), "generic-command", at)
		}
	}
}

var (
	// stdin is what makes a command read nothing but a secret there, and reader a command that reads one.
	stdin  = lazy.Expr(`stdin|chpasswd|sudo -S|secrets? create|luks|cryptsetup`)
	reader = lazy.Expr(`(?i)\b(?:sudo -S|su|pass|kinit|chpasswd|smbpasswd|cryptsetup|gpg|-passin|login|auth|[\w-]*passw\w*|passphrase|[\w-]*token|secrets?|credentials?)\b`)
)
