"""The Debian packages as the build folder makes them: what is in them and what they ask for; unpacked together they
run a case, and no file is in two of them. Argument: the path of the program."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(PROGRAM)
HANG = 1800  # s, after which a run is taken for hanging; a busy machine needs far less

if shutil.which("dpkg-shlibdeps") is None:
    print("dpkg-dev is not there")
    sys.exit(77)


def run(*command, **options):
    answer = subprocess.run(command, capture_output=True, text=True, timeout=HANG, **options)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def setUpModule():
    global FOLDER, DEBS
    FOLDER = tempfile.TemporaryDirectory()
    run("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", FOLDER.name, cwd=BUILD)
    DEBS = {run("dpkg-deb", "-f", path, "Package").strip(): path for path in glob.glob(FOLDER.name + "/*.deb")}


def tearDownModule():
    FOLDER.cleanup()


def field(package, name):
    return run("dpkg-deb", "-f", DEBS[package], name).strip()


def files(package):
    """Paths of the files, without folders."""
    lines = run("dpkg-deb", "-c", DEBS[package]).splitlines()
    return {line.split()[5].removeprefix("."): line for line in lines if not line.startswith("d")}


class Packages(unittest.TestCase):
    def test_which_there_are(self):
        wanted = {"percuss", "libpercuss-dev", "percuss-doc"}
        if os.path.exists(os.path.join(BUILD, "libpercuss_petsc.so")):
            wanted.add("percuss-petsc")
        if os.path.exists(os.path.join(BUILD, "libpercuss.so")):
            wanted |= {"libpercuss0", "python3-percuss"}
        self.assertEqual(set(DEBS), wanted)

    def test_what_is_in_them(self):
        program, dev = files("percuss"), files("libpercuss-dev")
        for path in ("bin/percuss", "share/man/man1/percuss.1.gz", "share/percuss/case.schema.json",
                     "share/percuss/cases/bar_impact/case.yaml", "share/bash-completion/completions/percuss",
                     "share/fish/vendor_completions.d/percuss.fish"):
            self.assertIn("/usr/" + path, program)
        self.assertTrue(any(path.endswith("/_percuss") for path in program))
        for name in ("percuss.h", "libpercuss.a", "percussConfig.cmake", "percuss.pc"):
            self.assertTrue(any(path.endswith("/" + name) for path in dev), name)
        self.assertIn("/usr/share/doc/percuss-doc/docs/manual.md", files("percuss-doc"))
        if "libpercuss0" in DEBS:
            self.assertTrue(any(re.search(r"/libpercuss\.so\.0$", path) for path in files("libpercuss0")))
            self.assertTrue(any(path.endswith("/libpercuss.so") for path in dev))
            self.assertTrue(any(re.fullmatch(r"/usr/lib/python3[.0-9]*/dist-packages/percuss/__init__\.py", path)
                                for path in files("python3-percuss")))

    def test_no_file_is_in_two_and_all_lie_below_usr(self):
        owner = {}
        for package in DEBS:
            for path, line in files(package).items():
                self.assertTrue(path.startswith("/usr/") and not path.startswith("/usr/local"), path)
                self.assertNotIn(path, owner, package)
                self.assertRegex(line, r"^(-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root/root", line)
                owner[path] = package
            for name in ("copyright", "changelog.gz", "changelog.Debian.gz"):
                self.assertIn(f"/usr/share/doc/{package}/{name}", owner)

    def test_what_they_ask_for(self):
        libraries = field("percuss", "Depends")
        for library in ("libc6", "libcholmod", "libumfpack", "libarpack", "libyaml", "liblapack"):
            self.assertIn(library, libraries)
        self.assertNotRegex(libraries, "petsc|mpi|gnuplot|python|-dev")  # none of which the program needs
        for library in ("suitesparse", "arpack", "yaml", "lapack"):
            self.assertRegex(field("libpercuss-dev", "Depends"), rf"lib{library}\S*-dev")
        if "percuss-petsc" in DEBS:
            self.assertRegex(field("percuss-petsc", "Depends"), r"percuss \(= [^)]*\).*petsc")
        if "python3-percuss" in DEBS:
            self.assertRegex(field("python3-percuss", "Depends"), "python3-numpy.*libpercuss0")
            self.assertEqual(field("python3-percuss", "Architecture"), "all")
            self.assertIn("libpercuss0 (=", field("libpercuss-dev", "Depends"))

    def test_each_has_a_summary_of_its_own(self):
        self.assertEqual(len({field(package, "Description").splitlines()[0] for package in DEBS}), len(DEBS))

    def test_loader_and_builders_of_packages_know_the_library(self):
        if "libpercuss0" in DEBS:
            self.assertEqual(run("dpkg-deb", "-I", DEBS["libpercuss0"], "triggers"), "activate-noawait ldconfig\n")
            self.assertRegex(run("dpkg-deb", "-I", DEBS["libpercuss0"], "shlibs"), "^libpercuss 0 libpercuss0 ")

    def test_versions_are_that_of_the_program(self):
        version = run(PROGRAM, "--version").splitlines()[0].split()[1]
        for package in DEBS:
            self.assertEqual(field(package, "Version"), version + "-0percuss1")

    def test_unpacked_they_run(self):
        with tempfile.TemporaryDirectory() as root:
            for path in DEBS.values():
                run("dpkg-deb", "-x", path, root)
            program = os.path.join(root, "usr/bin/percuss")
            run(program, "run", "bar_impact", "-q", "-o", os.path.join(root, "out"), cwd=root)
            self.assertTrue(os.path.getsize(os.path.join(root, "out", "summary.json")) > 0)


if __name__ == "__main__":
    unittest.main()
