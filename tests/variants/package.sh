#!/bin/sh
# The Debian packages of the folder DEBS in a bare Debian 12, which is made for it and thrown away:
# tests/variants/package.sh DEBS [BARE.tar]; with the archive of one that was made before it begins with that.
# They install with what they depend on; program, library and Python module work; afterwards nothing is left of them.
set -eu
cd "$(dirname "$0")/../.."
debs=$(cd "$1" && pwd)
root=$(mktemp -d)
trap 'exit 1' INT TERM
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT

if [ $# -gt 1 ]; then
    tar -xf "$2" -C "$root"
else
    echo "Making a bare Debian 12"
    mmdebstrap --quiet --variant=apt bookworm "$root"
fi
cp -r "$debs"/*.deb tests/install "$root/srv"
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside() {
    chroot "$root" /usr/bin/env -i http_proxy="${http_proxy:-}" HOME=/srv PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive "$@"
}
get() {
    inside apt-get -qq -y --no-install-recommends install "$@" >"$root/apt.log" 2>&1 || { cat "$root/apt.log"; exit 1; }
}
# The packages whose names match, as they are called inside.
named() { (cd "$debs" && ls | grep "^$1.*\.deb$" | sed 's|^|/srv/|'); }
# All files but those of apt and dpkg themselves, and what any program leaves behind in caches and logs.
files() {
    (cd "$root" && find etc usr opt var ! -path 'var/cache/*' ! -path 'var/log/*' ! -path 'var/lib/apt/*' \
        ! -path 'var/lib/dpkg/*' ! -path etc/ld.so.cache | sed 's|^|/|' | sort)
}

mount -t proc proc "$root/proc" # the program finds its cases by the place of its own file
inside apt-get -qq update
echo "The program, on nothing but what it depends on"
get $(named percuss_)
inside sh -ec 'cd /srv && percuss --version && percuss run bar_impact -q -o /srv/out && test -s /srv/out/summary.json'
inside sh -ec 'cd / && percuss complete run bar_imp | grep -q "^bar_impact$"'
inside sh -ec 'percuss list --schema | cmp - /usr/share/percuss/case.schema.json'

if [ -n "$(named python3-percuss_)" ]; then
    echo "The Python module, without what programs are built with"
    get $(named libpercuss0_) $(named python3-percuss_)
    inside sh -ec 'cd /srv && python3 -c "
import percuss
sim = percuss.load(\"/usr/share/percuss/cases/bar_impact\")
sim.run()
print(percuss.__file__, sim.time)"'
fi

echo "What programs of others are built with"
get gcc libc6-dev make cmake $(named libpercuss)
inside sh -ec 'cd /srv && cmake -S install -B cmake && cmake --build cmake' >"$root/cmake.log" ||
    { cat "$root/cmake.log"; exit 1; }
for example in example example_shared; do inside /srv/cmake/$example /usr/share/percuss/cases/bar_impact; done
inside sh -ec 'cd /srv && cc -o by-pkg-config install/example.c $(pkg-config --cflags --libs percuss)'
inside /srv/by-pkg-config /usr/share/percuss/cases/bar_impact

if [ -n "$(named percuss-petsc_)" ]; then
    echo "Over ranks"
    get $(named percuss-petsc_)
    inside sh -ec 'cd /srv && percuss run bar_impact -q -o /srv/petsc --set solver.linear=petsc --set time.end=0.01'
fi
get $(named percuss-doc_)

echo "Removed without a trace"
packages=$(for deb in "$debs"/*.deb; do dpkg-deb -f "$deb" Package; done)
owned=$(for package in $packages; do inside dpkg -L "$package"; done | sort -u)
before=$(files)
# shellcheck disable=SC2086 # the names are words of their own
inside apt-get -qq -y purge $packages >/dev/null 2>&1
left=$(files | grep -i percuss || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
# Whatever is gone had been theirs, and nothing came in its place.
printf '%s\n' "$before" >"$root/before"
files | diff "$root/before" - | sed -n 's/^[<>] //p' >"$root/changed" || true
printf '%s\n' "$owned" >"$root/owned"
if grep -vxF -f "$root/owned" "$root/changed" | grep -v __pycache__; then
    echo "the files above changed, too"
    exit 1
fi
echo "All is well."
