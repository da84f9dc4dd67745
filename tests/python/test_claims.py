"""Runs the cases behind figures of the documents, and says which have moved: test_claims.py PROGRAM [FILE.md ...]

A document states its claims in a comment beside the figures, a line each:

    <!-- claims
    cases/ball: at(height, 1) = 0.32558 +- 5e-6
    cases/bar_impact scheme={type: moreau_jean, rho_inf: 0.8}: end.kinetic + end.strain = 476.924 +- 1e-3
    -->

The number must stand in the text as it is written here. Ends with 1 if a figure is off, or is not in the text."""

import os
import re
import subprocess
import sys
import tempfile

TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TREE, "python"))
BLOCK = re.compile(r"<!-- claims\n(.*?)-->", re.S)
CLAIM = re.compile(r"(?P<case>[\w/]+)(?P<keys>(?: [\w.]+=(?:\{[^}]*\}|\S+?))*): "
                   r"(?P<measure>.+) = (?P<value>\S+) \+- (?P<bound>\S+)")
KEY = re.compile(r" ([\w.]+)=(\{[^}]*\}|\S+)")


def documents(paths):
    """Yields name and text of each document with claims."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=TREE, capture_output=True, text=True, check=True).stdout
    for path in paths or listed.split():
        with open(os.path.join(TREE, path), encoding="utf-8") as file:
            text = file.read()
        if BLOCK.search(text):
            yield path, text


def claims(path, text):
    """Returns the claims of a document as (case, keys, measure, value, bound)."""
    found, rest = [], BLOCK.sub("", text)
    for line in "".join(BLOCK.findall(text)).splitlines():
        match = CLAIM.fullmatch(line)
        if match is None:
            raise SystemExit(f"{path}: not a claim: {line}")
        if match["value"].lstrip("-") not in rest:
            raise SystemExit(f"{path}: the text says nothing of {match['value']}: {line}")
        found.append((match["case"], match["keys"], match["measure"], match["value"], float(match["bound"])))
    return found


def measured(case, keys, formulas):
    """Runs a case once, in this process, and returns the value of each measure."""
    from percuss import measure, pool  # of the tree, over the library of the build

    with tempfile.TemporaryDirectory() as folder:
        runs = pool.Runs(os.path.join(TREE, case), folder, ["title=claims"], beside=0,
                         history=any(map(measure.uses_history, formulas)))
        lines = [f"{key}={value}" for key, value in KEY.findall(keys)]
        run = runs.measured(lines, {}, {formula: measure.locate(formula, TREE) for formula in formulas})
    assert run.is_good, f"{case}{keys}: {run.reason}"
    return [run.values[formula].value for formula in formulas]


def main():
    build = os.path.dirname(os.path.abspath(sys.argv[1]))
    os.environ.setdefault("PERCUSS_LIBRARY", os.path.join(build, "libpercuss.so"))
    count, off = 0, []
    for path, text in documents(sys.argv[2:]):
        runs = {}
        for case, keys, formula, value, bound in claims(path, text):
            runs.setdefault((case, keys), []).append((formula, value, bound))
        for (case, keys), rows in runs.items():
            values = measured(case, keys, [formula for formula, _, _ in rows])
            for (formula, value, bound), now in zip(rows, values, strict=True):
                count += 1
                if not abs(now - float(value)) <= bound:
                    off.append(f"{path}: {case}{keys}: {formula} is {now:.12g}, the text says {value} +- {bound:g}")
    print("\n".join(off + [f"{count} claims, {len(off)} off"]))
    return 1 if off or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
