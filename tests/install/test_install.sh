# Installs into an empty folder, moves it, and builds and runs the example against it with CMake and with pkg-config.
set -eu
build=$(dirname "$1")
source=$(pwd)
work=$(mktemp -d "$build/install-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
case=$source/cases/bar_impact

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
for file in bin/percuss include/percuss.h include/percuss_system.h share/percuss/cases/bar_impact/case.yaml \
    share/man/man1/percuss.1.gz share/percuss/case.schema.json share/bash-completion/completions/percuss \
    share/zsh/site-functions/_percuss share/fish/vendor_completions.d/percuss.fish; do
    [ -f "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
[ "$(find "$prefix/include" -type f | wc -l)" = 2 ] || { echo "more than the public headers is installed"; exit 1; }
for header in percuss.h percuss_system.h; do
    echo "#include <$header>" | cc -std=c17 -Wall -Werror -I"$prefix/include" -fsyntax-only -x c -
done
# Neither the build nor the source folder may be written into the package files, as the start of a path.
folders=$(printf '%s|%s' "$build" "$source" | sed 's/[^A-Za-z0-9_/|-]/\\&/g')
if grep -rIlE "(^|-[IL]|[^A-Za-z0-9_./}-])($folders)(/|[^A-Za-z0-9_.-]|\$)" "$prefix"; then
    echo "the files above name folders of the machine they were built on"
    exit 1
fi

# Libraries come from nowhere but the places that were meant: no empty or relative element in a run path.
for binary in "$build/percuss" "$build"/*.so "$prefix/bin/percuss" $(find "$prefix" -name '*.so'); do
    [ -f "$binary" ] || continue
    paths=$(readelf -d "$binary" | sed -n 's/.*R\(UN\)\{0,1\}PATH.*\[\(.*\)\]/\2/p')
    if printf '%s' "$paths" | grep -qE '(^|:)(:|$|[^/$:])' && [ -n "$paths" ]; then
        echo "a run path of $binary leads to the current folder: '$paths'"
        exit 1
    fi
done

# No folder of the source tree is on the include path, so that only installed files can be found.
cmake -S tests/install -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log" 2>&1 &&
    cmake --build "$work/cmake" >>"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name percuss.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # the flags are words of their own
cc -std=c17 -o "$work/by-pkg-config" tests/install/example.c $(pkg-config --cflags --libs percuss)

"$work/cmake/example" "$case" >"$work/cmake.txt"
"$work/by-pkg-config" "$case" >"$work/pkg-config.txt"
cat "$work/cmake.txt"
grep -q '^t = [0-9.]* s, u\[0\] = ' "$work/cmake.txt"
cmp "$work/cmake.txt" "$work/pkg-config.txt"

# A wrong case ends with the library's message, not with silence.
if "$work/by-pkg-config" "$work/nowhere" 2>"$work/message.txt"; then echo "a missing case was accepted"; exit 1; fi
grep -q nowhere "$work/message.txt"

# The installed program finds nothing in the source tree either and knows the same version.
version=$(pkg-config --modversion percuss)
(cd "$work" && prefix/bin/percuss --version) | grep -qF "$version"
(cd "$work" && prefix/bin/percuss check prefix/share/percuss/cases/bar_impact)
(cd "$work" && prefix/bin/percuss check bar_impact) # by its name alone
