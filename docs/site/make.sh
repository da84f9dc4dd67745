#!/bin/sh
# Makes the manual as a site and as a PDF in BUILD/docs: docs/site/make.sh BUILD. Sphinx reads the Markdown pages where
# they stand, the keys from `percuss list`, the C API from percuss.h by Doxygen, the Python API from the package.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
source=$build/docs/source

rm -rf "$build/docs"
mkdir -p "$source/src" "$source/_static/mathjax/fonts/HTML-CSS/TeX"
cp docs/site/index.md "$source"
for page in README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md docs mesh cases elements LICENSE CITATION.cff; do
    ln -s "$PWD/$page" "$source/$page"
done
for room in schemes rows closed_form; do
    mkdir -p "$source/src/$room"
    ln -s "$PWD/src/$room/README.md" "$source/src/$room/README.md"
done
{
    printf '# Reference of keys\n\nEvery key of a case, as `percuss list --markdown` prints it.\n'
    "$build/percuss" list --markdown | sed '/^# /d'
} >"$source/reference.md"
mathjax=/usr/share/javascript/mathjax
(cd $mathjax && cp -r MathJax.js config extensions jax "$source/_static/mathjax")
cp -r $mathjax/fonts/HTML-CSS/TeX/woff "$source/_static/mathjax/fonts/HTML-CSS/TeX"

# Comments of the headers are plain; Doxygen wants a third stroke, and a < where they follow a member.
doxygen - >/dev/null <<END
INPUT = src/percuss.h src/percuss_system.h
OUTPUT_DIRECTORY = $build/docs
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARNINGS = NO
EXTRACT_ALL = YES
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
INPUT_FILTER = "sed -E -e '1,/^$/d' -e 's,^( *)// ----.*,,' -e 's,^( *)// ,\1/// ,' -e 's,([;\,\)\{] *)// ,\1///< ,'"
END

export PERCUSS_BUILD="$build" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 PERCUSS_LIBRARY="$build/libpercuss.so"
sphinx="/usr/bin/python3 -m sphinx -q -c docs/site"
$sphinx -W --keep-going -b html "$source" "$build/docs/html"
cp -r docs/gallery "$build/docs/html/gallery"
# One page with all of it, printed by a browser, which sets the equations.
$sphinx -D html_theme=nature -b singlehtml "$source" "$build/docs/single" 2>/dev/null
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync \
    --user-data-dir="$build/docs/browser" --virtual-time-budget=60000 --print-to-pdf-no-header \
    --print-to-pdf="$build/docs/percuss.pdf" "file://$build/docs/single/index.html" 2>/dev/null
rm -rf "$build/docs/browser"
echo "Manual in $build/docs/html/index.html and $build/docs/percuss.pdf"
