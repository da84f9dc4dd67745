#!/bin/sh
# Builds and tests the program as other machines, compilers and rounding modes would have it, and tells the outcome of
# each: tests/variants/run.sh [PATTERN...], where a pattern picks test presets by name; without one, all are run.
# JOBS and CTEST_ARGS (options of ctest, such as "-L unit") may be set. Some tests are excused: excused.txt.
set -eu
cd "$(dirname "$0")/../.."

all="gcc-O0 gcc-native gcc-uncontracted clang clang-O0 clang-native clang-uncontracted asan tsan
    rounding-nearest rounding-upward rounding-downward rounding-zero"
jobs=${JOBS:-$(nproc)}
export PYTHONPATH="$PWD/tests/variants/python"

# " program:test program:test " for the entries of excused.txt that name the variant $1.
excused_from() {
    awk -v variant="$1" '
        /^#/ || NF == 0 { next }
        ("," $1 ",") ~ ("," variant ",") { gsub("/", "_", $2); list = list " " $2 ":" $3 " " }
        END { print list }' tests/variants/excused.txt
}

# Runs variant $1; its log is left in its build folder.
run() {
    preset=$1
    case $1 in rounding-*) preset=rounding ;; esac
    log=build-$preset/$1.log
    mkdir -p "build-$preset"
    cmake --preset "$preset" >"$log" 2>&1 || return 1
    cmake --build "build-$preset" --parallel "$jobs" >>"$log" 2>&1 || return 1
    PERCUSS_EXCUSED=$(excused_from "${1#rounding-}")
    export PERCUSS_EXCUSED
    ctest --preset "$1" --parallel "$jobs" ${CTEST_ARGS:-} >>"$log" 2>&1
}

# Is $1 one of the patterns that follow?
is_wanted() {
    name=$1
    shift
    for pattern in "${@:-*}"; do
        case $name in $pattern) return 0 ;; esac
    done
    return 1
}

# Lines of compilers, of ctest, of cmocka and of unittest that say what has failed, and how.
telling='error:|^[[:space:]]+[0-9]+ - |^\[ +(FAILED|ERROR|LINE) +\]|^(FAIL|ERROR): |Error: '

count=0 failed=
for variant in $all; do
    is_wanted "$variant" "$@" || continue
    count=$((count + 1))
    begin=$(date +%s)
    outcome=passed
    run "$variant" || outcome=FAILED failed=1
    told=$(sed -n 's/.*, \([0-9]* tests* failed out of [0-9]*\)$/, \1/p' "$log" | tail -n 1)
    echo "$variant: $outcome in $(($(date +%s) - begin)) s$told"
    [ "$outcome" = passed ] || { grep -E "$telling" "$log" | head -n 60; echo "All of it: $log"; }
done
[ $count -gt 0 ] || { echo "No such variant: $*. There are: $(echo $all)" >&2; exit 2; }
[ -z "$failed" ]
