"""Counts what size and interfaces of the program cost a reader, beside the landed figure and the goal.

    python3 tests/lint/count.py          prints the table; ends with 1 if a figure has risen above the landed one
    python3 tests/lint/count.py --land   prints it and writes the lower figures into tests/lint/counts.txt"""

import os
import re
import sys

LANDED = "tests/lint/counts.txt"
SOURCES = ("src", "elements", "mesh")
RANKS = r"\bpcs_comm|\bpcs_layout|\brow_comm|\brow_owner|\bMPI_|\branks?\b"
RIDDLES = r"^\s*// (?:What|Of|Where|How|That|Does) "
FUNCTION = r"^(?!(?:[A-Z_]+ )?static|typedef|extern|[A-Z_]+_INLINE)\w[\w *]*?\b\w+\([^;{]*?\)\n\{"


def texts(folders, endings):
    """Returns the texts of the files below folders, by path, each once: links are passed over."""
    paths = [os.path.join(place, name) for folder in folders for place, _, names in os.walk(folder) for name in names]
    found = {}
    for path in sorted(path for path in paths if path.endswith(endings) and not os.path.islink(path)):
        with open(path, encoding="utf-8") as file:
            found[path] = file.read()
    return found


def members(code, table):
    """Returns the numbers of callbacks and flags of a struct, 0 and 0 if there is no such struct."""
    body = re.search(rf"^(?:typedef )?struct {table} \{{\n(.*?)^\}}", "\n".join(code.values()), re.S | re.M)
    flags = re.findall(r"^ +bool ([^;(]*);", body.group(1), re.M) if body else ()
    return len(re.findall(r"\(\*\w+\)\(", body.group(1))) if body else 0, sum(flag.count(",") + 1 for flag in flags)


def count():
    """Returns figure and goal by name."""
    code = texts(SOURCES, (".c", ".h", ".def"))
    everything = "\n".join(code.values())
    lines = lambda files: sum(text.count("\n") for text in files.values())
    tables = {table: members(code, f"pcs_{table}") for table in
              ("system_ops", "system", "element_ops", "scheme_ops", "source_ops", "law_ops")}
    if not all(sum(counts) for counts in tables.values()):
        raise SystemExit("an interface is no longer found by its name: tell tests/lint/count.py the new one")
    sources = [tables[name] for name in ("source_ops", "law_ops")]
    return {
        "lines of C": (lines(code), 60000),
        "semicolons": (everything.count(";"), 36000),
        "files": (len(code), 330),
        "rooms": (len({os.path.dirname(path) for path in code} - {"src"}), 16),
        "system callbacks": (tables["system_ops"][0], 13),
        "system flags": (tables["system"][1], 4),
        "element callbacks": (tables["element_ops"][0], 11),
        "element flags": (tables["element_ops"][1], 3),
        "scheme callbacks": (tables["scheme_ops"][0], 6),
        "scheme flags": (tables["scheme_ops"][1], 4),
        "row source and law callbacks": (sum(callbacks for callbacks, _ in sources), 12),
        "row source and law flags": (sum(flags for _, flags in sources), 1),
        "functions without static": (len(re.findall(FUNCTION, everything, re.M)), 600),
        "files that name ranks": (sum(bool(re.search(RANKS, text)) for text in code.values()), 20),
        "comments that open with a riddle": (len(re.findall(RIDDLES, everything, re.M)), 0),
        "lines of tests": (lines(texts(("tests",), (".c", ".h", ".py", ".sh"))), 45000),
        "lines of Python": (lines(texts(("python",), (".py",))), 5000),
        "lines of documents": (lines(texts(("docs",), (".md",))), 6000),
        "lines of ARCHITECTURE.md": (lines(texts((".",), ("./ARCHITECTURE.md",))), 220),
        "lines of CHANGELOG.md": (lines(texts((".",), ("./CHANGELOG.md",))), 60),
    }


def landed():
    with open(LANDED, encoding="utf-8") as file:
        return {name: int(figure) for name, figure in (line.rsplit(None, 1) for line in file)}


def risen(figures, before):
    """Yields a sentence for each figure that is above the landed one and above its goal."""
    for name, (figure, goal) in figures.items():
        if figure > max(before[name], goal):
            yield f"{name}: {figure}, landed are {before[name]}: remove as much, or raise it in {LANDED} and say why"


def main():
    figures, before = count(), landed()
    print(f"{'':34} {'landed':>8} {'now':>8} {'goal':>8}")
    for name, (figure, goal) in figures.items():
        print(f"{name:34} {before[name]:8} {figure:8} {goal:8}{'  met' if figure <= goal else ''}")
    worse = list(risen(figures, before))
    print("\n".join(worse), end="\n" if worse else "")
    if "--land" in sys.argv[1:]:
        with open(LANDED, "w", encoding="utf-8") as file:
            file.writelines(f"{name} {min(figure, before[name])}\n" for name, (figure, _) in figures.items())
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
