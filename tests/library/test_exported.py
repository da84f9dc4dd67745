"""What libpercuss.so exports is what exported.txt lists, what percuss.h declares, and nothing else; its name and the
version of its symbols stay. Argument: the path of the program, beside which the library lies."""

import os
import re
import subprocess
import sys


def exported(library):
    run = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    names = [line.split()[-1] for line in run.stdout.splitlines() if line.split()[1] != "A"]
    return {tuple(name.split("@@")) for name in names}


def main():
    library = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "libpercuss.so")
    with open("tests/library/exported.txt", encoding="utf-8") as file:
        listed = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    with open("src/percuss.h", encoding="utf-8") as file:
        code = re.sub(r"//[^\n]*", "", file.read())
    declared = set(re.findall(r"^(?!typedef)[a-z][\w *]*?\b(percuss_\w+)\(", code, re.M))
    found = exported(library)
    names = {name for name, *_ in found}
    wrong = [f"{name} is exported and not listed in exported.txt" for name in sorted(names - listed)]
    wrong += [f"{name} is listed and not exported: programs that use it break" for name in sorted(listed - names)]
    wrong += [f"{name} is exported and not declared in percuss.h" for name in sorted(names - declared)]
    wrong += [f"{name} is declared in percuss.h and not exported" for name in sorted(declared - names)]
    wrong += [f"{symbol} is not of version PERCUSS_0" for symbol in sorted(found) if symbol[1:] != ("PERCUSS_0",)]
    run = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True)
    if "[libpercuss.so.0]" not in run.stdout:
        wrong.append("the soname is not libpercuss.so.0")
    if re.search(r"\bTEXTREL\b", run.stdout):
        wrong.append("the code is not position-independent")
    for finding in wrong:
        print(finding)
    print(f"{len(names)} functions exported")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
