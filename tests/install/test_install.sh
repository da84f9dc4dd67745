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

# Libraries come from nowhere but the places that were meant: no empty or relative element in a run path. Binaries watch
# their stack and their buffers (the latter need an optimising compiler), and are linked as a whole before they start.
watches="__stack_chk_fail __snprintf_chk"
if grep -qE '^(CMAKE_BUILD_TYPE:[A-Z]*=Debug|PERCUSS_ROUNDING:BOOL=ON)' "$build/CMakeCache.txt"; then
    watches=__stack_chk_fail
fi
for binary in "$build/percuss" "$build"/*.so "$prefix/bin/percuss" $(find "$prefix" -name '*.so'); do
    [ -f "$binary" ] || continue
    readelf -d "$binary" | grep -q 'FLAGS.*NOW' || { echo "$binary is linked while it runs"; exit 1; }
    for symbol in $watches; do
        readelf --dyn-syms -W "$binary" | grep -qw "$symbol" || { echo "$binary does not call $symbol"; exit 1; }
    done
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

unset PERCUSS_ROUNDING # a program from outside of a build for rounding modes sets none
"$work/cmake/example" "$case" >"$work/cmake.txt"
unset LD_LIBRARY_PATH # the flags hold the run path
"$work/by-pkg-config" "$case" >"$work/pkg-config.txt"
"$work/cmake/example_shared" "$case" >"$work/shared.txt"
cmp "$work/cmake.txt" "$work/shared.txt"
cat "$work/cmake.txt"
grep -q '^t = [0-9.]* s, u\[0\] = ' "$work/cmake.txt"
cmp "$work/cmake.txt" "$work/pkg-config.txt"

# The installed Python package finds the library beside it; so does one that pip has put elsewhere, by its name.
unset LD_LIBRARY_PATH
python=$(find "$prefix" -type d -name dist-packages)
run_python() { # PATH of the package, and what to load it with
    (cd "$work" && env -u PERCUSS_LIBRARY PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$1" ${2:+"$2"} /usr/bin/python3 -c "
import percuss
assert percuss.__file__.startswith('$1'), percuss.__file__
sim = percuss.load('prefix/share/percuss/cases/bar_impact')
sim.run()
print('t = %g s, u[0] = %.17g m ' % (sim.time, sim.q[0]))") >"$work/python.txt"
    cmp "$work/cmake.txt" "$work/python.txt"
}
if /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    run_python "$python"
    # Commands in Python are found below the prefix, wherever that is.
    [ -x "$prefix/libexec/percuss/percuss-study" ]
    (cd "$work" && env -i PYTHONDONTWRITEBYTECODE=1 "$prefix/bin/percuss" study bar_impact --set time.end=0.01 \
        --vary mesh.bar.elements=4,8 -q -o study)
    [ "$(grep -c done "$work/study/study.csv")" = 2 ]
    cp -rL python "$work/package" # with the headers that it links to
    if /usr/bin/python3 -c "import setuptools, pip, wheel" 2>/dev/null; then
        /usr/bin/python3 -m pip install --quiet --no-index --no-build-isolation --no-deps --target "$work/site" \
            "$work/package" >"$work/pip.log" 2>&1 || { cat "$work/pip.log"; exit 1; }
        run_python "$work/site" LD_LIBRARY_PATH="$(dirname "$(find "$prefix" -name libpercuss.so)")"
    else
        echo "pip, setuptools or wheel is not installed: pip install ./python is not tested"
    fi
else
    echo "NumPy is not installed: the installed Python package is not tested"
fi
export LD_LIBRARY_PATH="$(dirname "$(find "$prefix" -name libpercuss.so)")"

# A wrong case ends with the library's message, not with silence.
if "$work/by-pkg-config" "$work/nowhere" 2>"$work/message.txt"; then echo "a missing case was accepted"; exit 1; fi
grep -q nowhere "$work/message.txt"

# The installed program finds nothing in the source tree either and knows the same version.
version=$(pkg-config --modversion percuss)
(cd "$work" && prefix/bin/percuss --version) | grep -qF "$version"
(cd "$work" && prefix/bin/percuss check prefix/share/percuss/cases/bar_impact)
(cd "$work" && prefix/bin/percuss check bar_impact) # by its name alone
