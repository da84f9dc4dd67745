#!/bin/sh
# The manual as one HTML page and as a PDF in BUILD/docs, from the Markdown pages of the project and from what the
# program itself lists: docs/make.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=$1
out=$build/docs
mkdir -p "$out"

{
    echo "# Reference"
    echo
    echo "Every key, as \`percuss list --markdown\` prints it."
    "$build/percuss" list --markdown
} >"$out/reference.md"

pages="README.md docs/tutorial.md docs/cases.md docs/install.md docs/manual.md docs/choosing.md docs/theory.md
    src/schemes/README.md docs/howto.md mesh/README.md src/rows/README.md src/closed_form/README.md docs/library.md
    docs/python.md docs/validation.md docs/reliability.md docs/scaling.md docs/numerics.md $out/reference.md
    CHANGELOG.md"
# Links between pages lead to their headings in the one page (links.lua); pictures are taken in.
# shellcheck disable=SC2086 # the names are words of their own
pandoc -f gfm -t html5 -s --toc --toc-depth=2 --self-contained --resource-path=.:docs --metadata title="Percuss" \
    --metadata lang=en --lua-filter docs/links.lua -c docs/manual.css -o "$out/manual.html" $pages
mkdir -p "$out/gallery"
cp docs/gallery/index.html docs/gallery/*.svg docs/gallery/*.png "$out/gallery"
weasyprint -q "$out/manual.html" "$out/manual.pdf"
echo "Manual in $out/manual.html and $out/manual.pdf"
