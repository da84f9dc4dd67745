#!/bin/sh
# Builds for the other architecture, aarch64 on x86_64 and the reverse, and runs the tests of the kinds KINDS ("unit
# contract" unless set) under qemu. The other architecture's packages are unpacked into build-cross, beside the system.
set -eu
cd "$(dirname "$0")/../.."

case $(uname -m) in
    x86_64) processor=aarch64 architecture=arm64 ;;
    aarch64) processor=x86_64 architecture=amd64 ;;
    *) echo "There is no other architecture known for $(uname -m)." >&2; exit 1 ;;
esac
packages=libc6-dev,libsuitesparse-dev,libopenblas-serial-dev,libyaml-dev,libarpack2-dev,zlib1g-dev
packages=$packages,libcmocka-dev
jobs=${JOBS:-$(nproc)}
kinds=$(echo "${KINDS:-unit contract}" | tr ' ' '|')
sysroot=$PWD/build-cross/$architecture
libraries=$sysroot/usr/lib/$processor-linux-gnu

if [ ! -f "$sysroot/complete" ]; then
    echo "Unpacking the libraries for $architecture into build-cross (1 GB)"
    rm -rf "$sysroot"
    mkdir -p build-cross
    mmdebstrap --quiet --variant=extract --architectures="$architecture" --include="$packages" \
        bookworm "$sysroot"
    # What the scripts of the packages would link, had they been run.
    for name in libblas.so libblas.so.3 liblapack.so liblapack.so.3 libopenblas.so.0; do
        ln -sf "openblas-serial/$name" "$libraries/$name"
    done
    # Links from the root lead into the host.
    find "$libraries" "$sysroot"/lib* -maxdepth 1 -lname '/*' | while read -r link; do
        ln -sfr "$sysroot$(readlink "$link")" "$link"
    done
    touch "$sysroot/complete"
fi

cmake -S . -B build-cross/build --toolchain "$PWD/cmake/cross.cmake" -DCROSS_PROCESSOR="$processor" \
    -DCROSS_SYSROOT="$sysroot" -DPERCUSS_PETSC=OFF >/dev/null
cmake --build build-cross/build --parallel "$jobs" -- --no-print-directory -s
ctest --test-dir build-cross/build --parallel "$jobs" --output-on-failure -L "^($kinds)\$" ${CTEST_ARGS:-}
