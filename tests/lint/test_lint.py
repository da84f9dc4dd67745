"""Holds the source tree to the project's rules. First every rule is shown a fault that it must find and a text that
it must let pass; then the whole tree is read. Argument: the path of the program, beside which the library lies."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

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
    (lint.include_rule, "src/step/newton.c", '  #  include "elements/element.h"\n', '#include "linsolve/linsolve.h"\n'),
    (lint.include_rule, "elements/rod.c", '#include "mesh/mesh.h"\n', '#include "core/context.h"\n'),
    (lint.include_rule, "src/schemes/a.c", '#include "linsolve/linsolve.h"\n', '#include "step/step.h"\n'),
    (lint.include_rule, "src/output/a.c", '#include "schemes/common.h"\n', '#include "schemes/scheme.h"\n'),
    (lint.include_rule, "src/case/a.c", '#include "sim/sim.h"\n', '// #include "sim/sim.h"\n'),
    (lint.include_rule, "src/case/a.c", '#include "tree.h"\n', '#include "case/tree.h"\n'),
    (lint.include_rule, "src/step/a.c", '#include "percuss_system.h"\n', '#include "core/status.h"\n'),
    (lint.include_rule, "src/closed_form/a.c", '#include "percuss.h"\n', '#include "percuss_system.h"\n'),
    (lint.include_rule, "src/core/a.c", '#include "percuss.h"\n', '#include <stdlib.h>\n'),
    (lint.include_rule, "src/step/step.c", '#include "schemes/scheme_list.def"\n', '#include "step/step_list.def"\n'),
    (lint.allocation_rule, "src/sim/a.c", "p = malloc (8);\n", "p = pcs_take(c, 1, 8, x); // malloc(8)\n"),
    (lint.allocation_rule, "mesh/a.c", "free(p);\n", "pcs_scratch_free(p); cholmod_free(&c); s = \"free(p)\";\n"),
    (lint.allocation_rule, "mesh/a.c", "s = strdup(t);\n", "c->free_from = p;\n"),
    (lint.printing_rule, "src/sim/a.c", 'printf("x");\n', 'snprintf(a, 3, "printf(x)"); fprintf(file, "x");\n'),
    (lint.printing_rule, "src/sim/a.c", 'fprintf(stderr, "x");\n', "report->stderr_of = 1; on_exit = 2;\n"),
    (lint.printing_rule, "src/sim/a.c", "exit(1);\n", "// exit(1)\n"),
    (lint.printing_rule, "elements/a.c", "abort();\n", "assert(x);\n"),
    (lint.printing_rule, "src/build/a.h", "void pcs_put(FILE *out);\n", "void pcs_put(pcs_file *out); // FILE\n"),
    (lint.function_rule, "src/sim/a.c", long_function(61), long_function(60)),
    (lint.function_rule, "tests/unit/test_a.c", long_function(200), long_function(10)),
    (lint.argument_rule, "src/sim/a.c", "int f(int a, int b, int c, int d, int e, int f, int g)\n{\n}\n",
     "int f(int a, void (*b)(int, int), int c, int d, int e, int f)\n{\n    g(1, 2, 3, 4, 5, 6, 7);\n}\n"),
    (lint.guard_rule, "src/sim/a.c", "for (int i = 0; i < n && p != NULL; i++) q[i] = p[i];\n",
     "for (int i = 0; i < n && status == OK; i++) status = f(i);\n"),
    (lint.guard_rule, "src/sim/a.c", "for (int i = 0; s->has && i < n; i++) {\n    x += 1;\n}\n",
     "for (int i = 0; i < n && !s->is_done; i++) {\n    walk(s, i);\n}\n"),
    (lint.conditional_rule, "src/sim/a.c", "x = a ? b : c ? d : e;\n", "x = a ? b : c;\ny = d ? e : f;\n"),
    (lint.conditional_rule, "src/sim/a.c", "x = a ? (b ? c : d) : e;\n", "x = (a ? b : c) + (d ? e : f);\n"),
    (lint.shape_rule, "src/sim/a.c", "a" * 121 + "\n", "a" * 120 + "\n"),
    (lint.shape_rule, "src/sim/a.c", "\ta;\n", "    a;\n"),
    (lint.shape_rule, "README.md", "a \n", "a\n"),
    (lint.shape_rule, "README.md", "a", "a\n"),
    (lint.word_rule, "src/sim/a.c", "// TO" "DO: later\n", "// to do so, call\n"),
    (lint.word_rule, "README.md", "see /ho" "me/someone/x\n", "see cases/home/x and a/tmp/b\n"),
    (lint.word_rule, "tests/cli/a.sh", "cd /tm" "p\n", "cd \"$(mktemp -d)\"\n"),
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
    part = "const pcs_gap_ops pcs_gap_sphere = {\n"
    for lines in ([("plane", "plane")], [("sphere", "round")]):
        if not list(lint.registry_rule("src/rows/sphere.c", part, lines)):
            wrong.append(f"registry_rule does not see a part that is not among {lines}")
    for file in ("sphere", "round"):
        if list(lint.registry_rule(f"src/rows/{file}.c", part, [("sphere", file)])):
            wrong.append(f"registry_rule complains about {file}.c")
    sources = "percuss_sources(src/rows gap_list.def\n  search row)\nadd_executable(p src/main.c)\n"
    files = {"src/main.c"} | {f"src/rows/{name}.c" for name in ("sphere", "search", "row")}
    for text, more, fewer in ((sources, set(), {"src/rows/row.c"}), (sources, {"src/rows/new.c"}, set()),
                              (sources.replace("row", "row search"), set(), set()),
                              (sources.replace("row", "row sphere"), set(), set())):
        if not list(lint.source_rule(text, lambda name: "PCS_GAP_TYPE(ball, sphere)\n", files - fewer | more)):
            wrong.append(f"source_rule does not see the fault in {text!r} with {more or fewer or 'nothing'}")
    if list(lint.source_rule(sources, lambda name: "PCS_GAP_TYPE(ball, sphere)\n", files)):
        wrong.append("source_rule complains about a good list")
    private = "// Rows; private to this folder.\n\n#ifndef A\n"
    if not list(lint.private_rule("src/sim/a.c", '#include "step/rows.h"\n', lambda name: private)):
        wrong.append("private_rule does not see a private header of another folder")
    if list(lint.private_rule("src/step/a.c", '#include "step/rows.h"\n', lambda name: private)):
        wrong.append("private_rule complains about a folder's own header")
    one, other = "int pcs_a(void)\n{\n    return pcs_b();\n}\n", "int pcs_b(void)\n{\n    return %s;\n}\n"
    if lint.circle({"a.c": one, "b.c": other % "pcs_a()"}) is None:
        wrong.append("circle does not see two files that call each other")
    if lint.circle({"a.c": one, "b.c": other % "1"}) is not None:
        wrong.append("circle complains about a file that calls another")
    if not list(lint.link_rule("README.md", "[a](b.md)", lambda name: False)):
        wrong.append("link_rule does not see a dead link")
    if list(lint.link_rule("README.md", "[a](b.md#c) [d](https://e)", lambda name: name == "b.md")):
        wrong.append("link_rule complains about a good link")
    excuse = "# digits  Why.\nupward unit/test_a one digits\n"
    for faulty in (excuse.replace("one digits", "one else"), excuse.replace(" one", ""), excuse.replace("one", "two")):
        if not list(lint.excuse_rule("excused.txt", faulty, lambda name: "one")):
            wrong.append(f"excuse_rule does not see {faulty!r}")
    if list(lint.excuse_rule("excused.txt", excuse, lambda name: "one")):
        wrong.append("excuse_rule complains about a good excuse")
    archive = "\n".join(["", "sphere.c.o:", "0000 T pcs_touch", "0000 R pcs_gap_sphere", "", "USER.c.o:",
                         "                 U pcs_touch", "                 U pcs_gap_sphere", ""])
    for user, is_wrong in (("plane", True), ("sphere_near", False)):
        if bool(list(lint.needed_parts(archive.replace("USER", user), [("sphere", "sphere")]))) != is_wrong:
            wrong.append(f"needed_parts errs about {user}")
    if [name for _, name in lint.third_party("a.c", "#include <yaml.h>\n#include <math.h>\n")] != ["yaml.h"]:
        wrong.append("third_party does not tell yaml.h from math.h")
    for figure, is_wrong in ((8, True), (7, False), (6, False)):
        if bool(list(count.risen({"files": (figure, 5)}, {"files": 7}))) != is_wrong:
            wrong.append(f"risen errs about {figure} where 7 are landed")
    table = {"a.h": "typedef struct pcs_a {\n    bool b, c;\n    void (*d)(bool e);\n} pcs_a;\n"}
    if count.members(table, "pcs_a") != (1, 2):
        wrong.append(f"members finds {count.members(table, 'pcs_a')}, not 1 callback and 2 flags")
    return wrong + symbol_rules_bite()


def symbol_rules_bite():
    """The same for the rules on compiled code, with a file of faults compiled as the library is."""
    source = ("int counter; static int hidden = 3; static const char *names[] = { \"a\" };\n"
              "const double pcs_pi = 3.14; const char *const pcs_names[] = { \"a\" };\n"
              "int pcs_f(int i) { static int calls; calls += i; return hidden++ + calls + names[i][0]; }\n"
              "int helper(void) { return 1; }\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        flags = ["-std=c17", "-O2", "-fPIC", "-fvisibility=hidden"]
        subprocess.run(["cc", *flags, "-c", path, "-o", path + ".o"], check=True)
        writable = {re.sub(r"\.\d+$", "", text.split("'")[1]) for text in lint.writable_data(objdump(path + ".o"))}
        foreign = {text.split("'")[1] for text in lint.foreign_names(nm(path + ".o"))}
    wrong = []
    if not {"counter", "hidden", "calls"} <= writable or {"pcs_pi", "pcs_names"} & writable:
        wrong.append(f"writable_data sees {sorted(writable)}")
    if foreign != {"counter", "helper"}:
        wrong.append(f"foreign_names sees {sorted(foreign)}")
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
