"""The page of the gallery: one HTML file with relative links to the pictures beside it."""
import html
import re

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1b1f24; background: #fff;
  margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.7rem; margin: 0.5rem 0; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 0.5rem; border-bottom: 2px solid #0072b2; }
h3 { font-size: 1.05rem; margin: 0 0 0.3rem; }
a { color: #0060a0; }
nav a { display: inline-block; margin-right: 1rem; padding: 0.15rem 0; }
article { border: 1px solid #d4dae0; border-radius: 6px; padding: 0.9rem; margin: 1rem 0; }
article > p { margin: 0.3rem 0 0.6rem; }
.source { color: #57606a; font-size: 0.9rem; }
img { max-width: 100%; height: auto; display: block; margin: 0.6rem auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.25rem 0.6rem 0.25rem 0; border-bottom: 1px solid #e3e7eb; vertical-align: top; }
td.n { white-space: nowrap; }
@media (max-width: 40rem) {
  tr:first-child { display: none; }
  tr { display: block; padding: 0.4rem 0; border-bottom: 1px solid #e3e7eb; }
  td { display: block; padding: 0; border: 0; }
  td.n { white-space: normal; }
  td:first-child { font-weight: 600; }
  td[title]::before { content: attr(title) ": "; color: #57606a; }
}
details { margin-top: 0.5rem; font-size: 0.9rem; }
pre { background: #f4f6f8; padding: 0.5rem; overflow-x: auto; }
@media print { article { break-inside: avoid; } details { display: none; } }
"""


def number(x):
    """Six digits; what is nothing beside one is shown as it is."""
    return f"{x:.6g}"


def escape(text):
    return html.escape(str(text), quote=True)


def prose(text):
    """`words` of a program in its letters."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def figure_name(label):
    text = str(label)
    return f"Fig. {text}" if text[0].isdigit() else text


def labels(shows):
    """Of one paper: Fig. 4, 5, 7; Table 3."""
    return ", ".join(figure_name(label) for label in shows)


def source(papers, entry):
    shown = entry.get("shows", {}).items()
    parts = [f"{escape(papers[paper]['short'])}: {escape(labels(shows))}" for paper, shows in shown]
    if "source" in entry:
        parts.append(escape(entry["source"]))
    return "; ".join(parts)


def figures(rows):
    if not rows:
        return ""
    lines = ["<table><tr><th>key figure</th><th>Percuss</th><th>reference</th><th>which is</th>"
             "<th>within</th></tr>"]
    for row in rows:
        unit = f" {escape(row['unit'])}" if row.get("unit") else ""
        tolerance = escape(row["tolerance"]) if isinstance(row["tolerance"], str) else number(row["room"]) + unit
        lines.append(f"<tr><td>{escape(row['what'])}</td>"
                     f"<td class='n' title='Percuss'>{number(row['value'])}{unit}</td>"
                     f"<td class='n' title='reference'>{number(row['reference'])}{unit}</td>"
                     f"<td title='which is'>{escape(row['is'])}</td><td class='n' title='within'>{tolerance}</td></tr>")
    return "\n".join(lines) + "</table>"


def article(papers, entry):
    alt = escape(entry["title"])
    pictures = [f"<img src='{name}' alt='{alt}' loading='lazy'>" for name in entry["pictures"]]
    if entry["view"] is not None:
        pictures.insert(0, f"<img src='{entry['view']}' alt='{alt}, drawn by percuss view' loading='lazy'>")
    commands = escape("\n".join(entry.get("commands", [])))
    again = f"<details><summary>Commands</summary><pre>{commands}</pre></details>" if commands else ""
    return "\n".join([f"<article id='{entry['id']}'><h3>{alt}</h3>",
                      f"<p class='source'>{source(papers, entry)}</p>",
                      f"<p>{prose(entry['text'])}</p>", *pictures, figures(entry["rows"]), again, "</article>"])


def paper_table(listing, key):
    """Every figure of a paper: where it is computed, or why not."""
    where = {}
    for entry in listing["entries"]:
        for label in entry.get("shows", {}).get(key, []):
            where.setdefault(label, []).append(entry)
    paper = listing["papers"][key]
    lines = [f"<h3>{escape(paper['cite'])}</h3><table>",
             "<tr><th>figure</th><th>shows</th><th></th></tr>"]
    for label, what in paper["figures"].items():
        links = ", ".join(f"<a href='#{entry['id']}'>{escape(entry['title'])}</a>" for entry in where.get(label, []))
        said = links or "not computed: " + prose(paper["not_computed"][label])
        lines.append(f"<tr><td class='n'>{escape(figure_name(label))}</td><td>{escape(what)}</td><td>{said}</td></tr>")
    return "\n".join(lines) + "</table>"


def write(listing, done):
    papers = listing["papers"]
    sections = listing["sections"]
    parts = ["<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>",
             "<meta name='viewport' content='width=device-width, initial-scale=1'>",
             f"<title>Percuss: gallery</title><style>{STYLE}</style></head><body>",
             f"<h1>Gallery</h1><p>{prose(listing['intro'])}</p>", "<nav>"]
    parts += [f"<a href='#{key}'>{escape(title)}</a>" for key, title in sections.items()]
    parts += ["<a href='#figures'>All figures of the papers</a></nav>"]
    for key, title in sections.items():
        parts.append(f"<h2 id='{key}'>{escape(title)}</h2>")
        parts += [article(papers, entry) for entry in done if entry["section"] == key]
    parts.append("<h2 id='figures'>All figures of the papers</h2>")
    parts += [paper_table(listing, key) for key in papers]
    return "\n".join(parts) + "\n</body></html>\n"
