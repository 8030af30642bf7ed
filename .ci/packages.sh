#!/bin/sh
# packages.sh [SUITE]: tries dist/*.deb as a user would, in a bare Debian: installs it, goes through the main job, installs it
# again, removes it, and looks for what is left. Then install.sh, with a package that is as it should be and with one that is
# not; and dist/*.rpm with rpm, in a root of its own. Needs root, debootstrap and a mirror; the system lies in .build/debian.
set -eu
cd "$(dirname "$0")/.."
suite=${1:-bookworm}
root=$PWD/.build/debian/$suite

[ "$(id -u)" = 0 ] || { echo 'packages: needs root' >&2; exit 1; }
command -v debootstrap >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
if [ ! -f "$root/ready" ]; then
	rm -rf "$root"
	mkdir -p "$root"
	debootstrap --variant=minbase --include=git,curl,ca-certificates "$suite" "$root" >"$root.log" || { tail -n 20 "$root.log" >&2; exit 1; }
	touch "$root/ready"
fi
rm -rf "$root/try"
mkdir "$root/try"
cp -R dist "$root/try/dist"
cp -R tests/testdata/demo "$root/try/sample"
cp .ci/demo.sh .ci/install.sh "$root/try/"

cat >"$root/try/try.sh" <<'IN'
set -eux
cd /try
files() { find / -xdev \( -path /try -o -path /proc -o -path /sys -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache \) -prune -o -print | sort; }
files >before
dpkg -i dist/*.deb
git rekal version
git help rekal >/dev/null 2>&1 || test ! -x /usr/bin/man
REKAL_SAMPLE=/try/sample sh ./demo.sh >demo.log || { cat demo.log; exit 1; }
dpkg -i dist/*.deb
git rekal -h | head -n 1
dpkg -r git-rekal
files >after
diff before after

REKAL_RELEASE=file:///try/dist PREFIX=/try/home sh ./install.sh
/try/home/bin/git-rekal version
printf x >>"$(echo dist/*.tar.gz)"
if REKAL_RELEASE=file:///try/dist PREFIX=/try/no sh ./install.sh; then exit 1; fi
test ! -e /try/no
IN
chroot "$root" /bin/sh /try/try.sh
rm -rf "$root/try"

command -v rpm >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rpm >/dev/null
rpmroot=$PWD/.build/rpmroot
in_root() { rpm --root "$rpmroot" --nodeps "$@"; } # git and glibc are not in there
rm -rf "$rpmroot"
mkdir -p "$rpmroot"
rpm --root "$rpmroot" --initdb
in_root -i dist/*.rpm
in_root -V git-rekal
"$rpmroot/usr/bin/git-rekal" version
in_root -U --force dist/*.rpm
in_root -e git-rekal
left=$(find "$rpmroot/usr" ! -type d)
[ -z "$left" ] || { printf 'packages: the .rpm left\n%s\n' "$left" >&2; exit 1; }
rm -rf "$rpmroot"
echo 'packages: installed, used, upgraded, removed without a trace'
