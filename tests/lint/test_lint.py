"""Holds the source tree to the project's rules. Argument: the path of the program, beside which the library lies."""

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
    checks = check_tree() + check_sources() + check_circles() + check_excuses()
    checks += count.risen(count.count(), count.landed())
    checks += check_library(sys.argv[1]) + check_format()
    for finding in checks:
        print(finding)
    print(f"{len(checks)} findings")
    return 1 if checks else 0


if __name__ == "__main__":
    sys.exit(main())
