#!/bin/sh
# Installs what is missing of the Debian packages that are named, and never removes one: need.sh [-w WORD] PACKAGE...
# With -w they are only wished for: where they cannot be had, or only in place of others, it says WORD and all is well.
# Elsewhere than on Debian it says what is needed and goes on: CMake names whatever it cannot find.
set -eu

word=
if [ "$1" = -w ]; then
    word=$2
    shift 2
fi

# Ends with the reason $1, or with the word about what is missing.
give_up() {
    if [ -n "$word" ]; then
        echo "Not installed:$missing. $word"
        exit 0
    fi
    echo "$1" >&2
    exit 1
}

if ! command -v dpkg-query >/dev/null 2>&1; then
    [ -n "$word" ] || echo "This is not a Debian system. Needed are the equivalents of: $*"
    exit 0
fi
have=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' "$@" 2>/dev/null || true)"
missing=
for package in "$@"; do
    case $have in *" $package=installed "*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=env
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo env"
else
    give_up "Missing packages:$missing. Install them as root: apt-get install$missing"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing$missing"
$as_root DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$log" 2>&1 ||
    echo "The package lists are not fresh; trying all the same."
# A fresh machine may be at its own upgrades for some minutes; they hold the lock of the packages.
if ! $as_root DEBIAN_FRONTEND=noninteractive apt-get install -o DPkg::Lock::Timeout=600 -y -qq --no-remove \
    --no-install-recommends $missing >"$log" 2>&1; then
    [ -n "$word" ] || tail -n 20 "$log" >&2
    give_up "These packages could not be installed without removing others, or not at all:$missing"
fi
