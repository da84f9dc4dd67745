"""Holds the source tree to the project's rules. First every rule is shown a fault that it must find and a text that
it must let pass; then the whole tree is read. Argument: the path of the program, beside which the library lies."""

import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count  # noqa: E402
import lint  # noqa: E402

FOLDERS = ("src", "elements", "mesh", "cases", "docs", "tests", "cmake", "python", ".ci")
FILES = ("CMakeLists.txt", "Makefile", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CMakePresets.json")
TEXT_RULES = (lint.include_rule, lint.allocation_rule, lint.printing_rule, lint.function_rule, lint.argument_rule,
              lint.guard_rule, lint.conditional_rule, lint.shape_rule, lint.word_rule, lint.opening_rule)


def long_function(lines):
    return "// Long.\n\nint f(void)\n{\n" + "    g();\n" * (lines - 3) + "}\n"


# (rule, path, faulty text, innocent text)
SAMPLES = [
    (lint.include_rule, "src/step/newton.c", '#include "fe/fe.h"\n', '#include "system/system.h"\n'),
    (lint.include_rule, "src/output/a.c", '#include "schemes/common.h"\n', '#include "schemes/scheme.h"\n'),
    (lint.include_rule, "src/core/a.c", '#include "percuss.h"\n', '#include <stdlib.h>\n'),
    (lint.allocation_rule, "src/sim/a.c", "p = malloc (8);\n", "p = pcs_take(c, 1, 8, x); // malloc(8)\n"),
    (lint.printing_rule, "src/sim/a.c", 'printf("x");\n', 'snprintf(a, 3, "printf(x)"); fprintf(file, "x");\n'),
    (lint.printing_rule, "src/sim/a.c", "exit(1);\n", "// exit(1)\n"),
    (lint.function_rule, "src/sim/a.c", long_function(61), long_function(60)),
    (lint.argument_rule, "src/sim/a.c", "int f(int a, int b, int c, int d, int e, int f, int g)\n{\n}\n",
     "int f(int a, void (*b)(int, int), int c, int d, int e, int f)\n{\n    g(1, 2, 3, 4, 5, 6, 7);\n}\n"),
    (lint.guard_rule, "src/sim/a.c", "for (int i = 0; i < n && p != NULL; i++) q[i] = p[i];\n",
     "for (int i = 0; i < n && status == OK; i++) status = f(i);\n"),
    (lint.conditional_rule, "src/sim/a.c", "x = a ? (b ? c : d) : e;\n", "x = (a ? b : c) + (d ? e : f);\n"),
    (lint.shape_rule, "src/sim/a.c", "a" * 121 + "\n", "a" * 120 + "\n"),
    (lint.word_rule, "README.md", "see /ho" "me/someone/x\n", "see cases/home/x and a/tmp/b\n"),
    (lint.opening_rule, "src/sim/a.c", "#include <math.h>\n", "// Sums.\n"),
]


def findings_of(rule, path, text):
    return list(rule(path, text) or ())


def rules_bite():
    """Every rule finds its planted fault and nothing in the innocent text."""
    wrong = []
    for rule, path, faulty, innocent in SAMPLES:
        if not findings_of(rule, path, faulty):
            wrong.append(f"{rule.__name__} does not see {faulty[:60]!r} in {path}")
        if findings_of(rule, path, innocent):
            wrong.append(f"{rule.__name__} complains about {innocent[:60]!r} in {path}")
    one, other = "int pcs_a(void)\n{\n    return pcs_b();\n}\n", "int pcs_b(void)\n{\n    return %s;\n}\n"
    if lint.circle({"a.c": one, "b.c": other % "pcs_a()"}) is None:
        wrong.append("circle does not see two files that call each other")
    if not list(lint.link_rule("README.md", "[a](b.md)", lambda name: False)):
        wrong.append("link_rule does not see a dead link")
    for figure, is_wrong in ((8, True), (7, False), (6, False)):
        if bool(list(count.risen({"files": (figure, 5)}, {"files": 7}))) != is_wrong:
            wrong.append(f"risen errs about {figure} where 7 are landed")
    return wrong


def objdump(path):
    return subprocess.run(["objdump", "-t", path], check=True, capture_output=True, text=True).stdout


def nm(path):
    return subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tree():
    for name in FILES:
        if os.path.exists(name):
            yield name
    for folder in FOLDERS:
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def", ".py", ".sh", ".md", ".txt", ".cmake", ".in", ".yaml")) \
                        or place == ".ci":
                    yield os.path.join(place, name)


def registered_in(folder):
    lists = [os.path.join(folder, name) for name in os.listdir(folder or ".") if name.endswith("_list.def")]
    return [line for path in lists for line in lint.registered(read(path))]


def check_sources():
    """All CMake files together, since targets of their own stand in several."""
    build = "".join(read(path) for path in tree() if path == "CMakeLists.txt" or path.startswith("cmake/"))
    files = {path for path in tree() if path.startswith(lint.LIBRARY) and path.endswith(".c")}
    return [f"cmake/sources.cmake: {f}" for f in lint.source_rule(build, read, files)]


def check_tree():
    wrong, owner = [], {}
    for path in tree():
        text = read(path)
        found = [f for rule in TEXT_RULES if rule is not lint.opening_rule for f in rule(path, text) or ()]
        header = path[:-2] + ".h"
        found += lint.opening_rule(path, text, read(header) if os.path.exists(header) else None) or ()
        found += lint.link_rule(path, text, lambda n, p=path: os.path.exists(os.path.join(os.path.dirname(p), n))) or ()
        found += lint.registry_rule(path, text, registered_in(os.path.dirname(path)))
        if path.startswith(lint.LIBRARY):
            found += lint.private_rule(path, text, header_text)
            for line, name in lint.third_party(path, text):
                if owner.setdefault(name, path) != path:
                    found.append(f"{line}: <{name}> is wrapped by {owner[name]} already")
        wrong += [f"{path}:{f}" for f in found]
    return wrong


def header_text(name):
    """The text of a header of the library, by the name that it is included by."""
    for path in ("src/" + name, name):
        if os.path.exists(path):
            return read(path)
    return None


def check_circles():
    folders = {}
    for path in tree():
        if path.startswith(lint.LIBRARY) and path.endswith(".c"):
            folders.setdefault(os.path.dirname(path), {})[path] = read(path)
    found = [lint.circle(texts) for texts in folders.values()]
    return ["files that call each other in a circle: " + ", ".join(way) for way in found if way]


def source_of(name):
    """The text of a test, in whatever language."""
    return "".join(read(name + ending) for ending in (".c", ".py") if os.path.exists(name + ending))


def check_excuses():
    path = "tests/variants/excused.txt"
    return [f"{path}:{f}" for f in lint.excuse_rule(path, read(path), source_of)]


def check_library(program):
    """Under sanitizers the compiler adds variables of its own: there the symbols say nothing."""
    library = os.path.join(os.path.dirname(program), "libpercuss.a")
    symbols = nm(library)
    if "__asan_" in symbols or "__tsan_" in symbols:
        return []
    folders = {os.path.dirname(path) for path in tree() if path.endswith("_list.def")}
    parts = [line for folder in folders for line in registered_in(folder)]
    found = [*lint.writable_data(objdump(library)), *lint.foreign_names(symbols), *lint.needed_parts(symbols, parts)]
    return [f"libpercuss.a: {f}" for f in found]


def check_format():
    """Versions of clang-format differ in taste: only the one of Debian 12 is asked."""
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool or " 14." not in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
        print("clang-format 14 is not installed: the format is not checked")
        return []
    files = [path for path in tree() if path.endswith((".c", ".h"))]
    run = subprocess.run([tool, "--dry-run", "--Werror", *files], capture_output=True, text=True)
    places = re.findall(r"^(\S+?:\d+):\d+: error: code should be clang-formatted", run.stderr, re.M)
    if run.returncode != 0 and not places:
        return [run.stderr]
    return [f"{place}: not as clang-format has it (make format)" for place in places]


def main():
    checks = rules_bite() or check_tree() + check_sources() + check_circles() + check_excuses()
    checks += count.risen(count.count(), count.landed())
    checks += check_library(sys.argv[1]) + check_format()
    for finding in checks:
        print(finding)
    print(f"{len(checks)} findings")
    return 1 if checks else 0


if __name__ == "__main__":
    sys.exit(main())
