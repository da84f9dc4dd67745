"""Settings of Sphinx for the manual, which `make docs` makes."""

import os
import re

BUILD = os.environ["PERCUSS_BUILD"]

project = "Percuss"
copyright = "the Percuss authors"
root_doc = "index"
exclude_patterns = ["README.md", "docs/site/index.md", "_static"]
extensions = ["myst_parser", "sphinx.ext.mathjax", "sphinx.ext.autodoc", "breathe"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False

html_theme = "furo"
html_title = "Percuss"
html_static_path = ["static", f"{BUILD}/docs/source/_static"]
html_css_files = ["wide.css"]
html_copy_source = False
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_CHTML"
mathjax2_config = {"showMathMenu": False, "messageStyle": "none", "CommonHTML": {"scale": 90}}

breathe_projects = {"percuss": f"{BUILD}/docs/xml"}
breathe_default_project = "percuss"
breathe_domain_by_extension = {"h": "c"}
autodoc_member_order = "bysource"


def mend_links(app, docname, source):
    """Leads links to folders to their README, and leaves the text of links to files that are no pages."""
    here = os.path.join(app.srcdir, os.path.dirname(docname))

    def mend(match):
        text, target = match.group(1), match.group(2).partition("#")[0]
        path = os.path.normpath(os.path.join(here, target))
        if target.endswith("gallery/index.html"):
            return f'<a href="{"../" * docname.count("/")}gallery/index.html">{text}</a>'
        if target and os.path.exists(os.path.join(path, "README.md")):
            return f"[{text}]({target.rstrip('/')}/README.md)"
        is_page = target == "" or "://" in target or target.endswith(".md") and os.path.exists(path)
        return match.group(0) if is_page else text

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", mend, source[0])
    if docname.startswith("cases/"):  # reached by docs/cases.md, not by the tree of pages
        source[0] = "---\norphan: true\n---\n" + source[0]


def setup(app):
    app.connect("source-read", mend_links)
