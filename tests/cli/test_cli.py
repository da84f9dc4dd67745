"""The command line: exit status, messages, results on disk, interruption. Argument: the path of the program."""

import contextlib
import csv
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

from program import HANG, PROGRAM, TOOLS, has_tools, percuss, read_json

CASE = "cases/bar_impact"
SHORT = ["--set", "time.end=0.6", "--set", "mesh.bar.elements=20"]


def errors_of(result):
    return [line for line in result.stderr.splitlines() if line.startswith("error: ")]


class Usage(unittest.TestCase):
    def refused(self, arguments, *parts):
        result = percuss(*arguments)
        self.assertEqual(result.returncode, 2, arguments)
        self.assertEqual(result.stdout, "")
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_no_arguments_print_usage(self):
        self.refused([], "usage: percuss run CASE")

    def test_wrong_usage_is_refused(self):
        self.refused(["rnu", CASE], "error: unknown command 'rnu', did you mean 'run'?", "usage:")
        self.refused(["run"], "error: a case must follow 'run'")
        self.refused(["check"], "error: a case must follow 'check'")
        self.refused(["run", CASE, "--qiet"], "error: unknown option '--qiet', did you mean '--quiet'?")
        self.refused(["run", CASE, "-x"], "error: unknown option '-x'")
        self.refused(["run", "bar_impct"], "is no file, folder or name of a case, did you mean 'bar_impact'")
        self.refused(["run", CASE, "more"], "error: one argument too many: 'more'")
        self.refused(["run", CASE, "--set"], "error: a value must follow the option '--set'")
        self.refused(["run", CASE, "-o"], "error: a value must follow the option '-o'")
        self.refused(["check", CASE, "-o", "x"], "error: --output is an option of run, ", " new, not of 'check'")
        self.refused(["run", CASE, "--markdown"], "error: --markdown is an option of list, not of 'run'")
        self.refused(["list", "--quiet"], "--quiet is an option of run, ", "not of 'list'")
        self.refused(["list", "--set", "a=b"], "--set is an option of run, statics, modes, check, not of 'list'")
        self.refused(["check", CASE, "--", "-x"], "options of PETSc are for mpiexec", "not for this case: '-x'")
        self.refused(["statics", CASE, "--", "-x"], "-- is an option of run, check, not of 'statics'")
        self.refused(["list", "nothing"], "error: nothing is called 'nothing'")
        self.refused(["list", "alfa_ggl"], "did you mean 'alpha_ggl'?")
        self.refused(["list", "Rigid"], "nothing is called 'Rigid'", "  rigid_body_2d ", "  pendulum ")

    def test_other_commands_are_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "percuss-hello"), "w") as file:
                file.write('#!/bin/sh\nfor word; do echo "<$word>"; done\nexit 7\n')
            os.chmod(file.name, 0o755)
            path = dict(os.environ, PATH=folder + ":" + os.environ["PATH"])
            result = percuss("hello", "--set", "a b", "", "-x", env=path)
            self.assertEqual((result.returncode, result.stdout), (7, "<--set>\n<a b>\n<>\n<-x>\n"))
            self.assertEqual(percuss("help", "hello", env=path).stdout, "<--help>\n")
            self.assertEqual(percuss("run", "--help", env=path).returncode, 0)
            os.chmod(file.name, 0o644)
            self.refused(["hello"], "unknown command 'hello'")
            # The program alone, without the Python package.
            alone = shutil.copy(PROGRAM, os.path.join(folder, "percuss"))
            result = subprocess.run([alone, "fit"], capture_output=True, text=True, env={"PATH": ""}, timeout=HANG)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
            self.assertIn("install the Debian package python3-percuss", result.stderr)
        self.refused(["../hello"], "unknown command '../hello'")

    def test_help_and_version(self):
        for arguments in (["--help"], ["-h"], ["help"], ["help", "help"]):
            result = percuss(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr, "")
            for word in ("run CASE", "check CASE", "list", "--set", "--quiet", "Exit status"):
                self.assertIn(word, result.stdout)
        tools = TOOLS[1:] if has_tools() else TOOLS  # all of them go the same way
        for verb in re.findall(r"percuss ([a-z]+) ", percuss().stderr):
            if verb in tools or verb == "converge":
                continue
            told = percuss("help", verb)
            self.assertEqual((told.returncode, told.stderr), (0, ""))
            self.assertEqual(percuss(verb, "--help").stdout, told.stdout)
            self.assertTrue(told.stdout.startswith("usage: percuss"))
            if verb != "help":
                self.assertNotIn("\n  --man ", told.stdout)
                self.assertEqual("\n  --whirl " in told.stdout, verb == "modes")
                self.assertEqual("percuss" in told.stdout[15:].split("\n\n")[0], False)
        self.refused(["help", "rnu"], "error: unknown command 'rnu', did you mean 'run'?")
        version = percuss("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"\Apercuss \d+\.\d+\.\d+\n")
        facts = dict(re.split(r" {2,}", line, maxsplit=1) for line in version.stdout.splitlines()[1:])
        self.assertEqual(list(facts), ["compiler", "build", "SuiteSparse", "ARPACK", "BLAS", "LAPACK",
                                       "libyaml", "PETSc"])
        self.assertRegex(facts["compiler"], r"^(gcc|clang) \d+\.\d+")
        self.assertRegex(facts["build"], r"-O\d.*-ffp-contract=(fast|off)")
        self.assertNotIn(os.getcwd(), version.stdout)
        for library in ("SuiteSparse", "ARPACK", "LAPACK", "libyaml"):
            self.assertRegex(facts[library], r"^\d+\.\d+\.\d+", library)
        self.assertRegex(facts["BLAS"], r"^OpenBLAS \d+\.\d+|^lib\w*blas\S*")
        self.assertRegex(facts["PETSc"], r"^\d+\.\d+\.\d+, loaded when a run asks for it$|^none$")


class Lists(unittest.TestCase):
    # The registries themselves say what must be listed.
    REGISTRIES = ("mesh/mesh_source_list.def", "elements/element_list.def", "src/rows/gap_list.def",
                  "src/schemes/scheme_list.def", "src/step/step_list.def", "src/linsolve/linsolve_list.def",
                  "src/output/observer_list.def", "src/closed_form/closed_form_list.def")

    def names(self):
        for path in self.REGISTRIES:
            with open(path) as file:
                for line in file:
                    if line.startswith("PCS_"):
                        yield re.match(r"PCS_\w+\((\w+)", line).group(1)

    def test_lists_keep_to_the_width_of_the_terminal(self):
        words = subprocess.run([PROGRAM, "list", "node_plane"], capture_output=True, text=True).stdout.split()
        for width in (50, 80, 200):
            lead, follow = pty.openpty()
            fcntl.ioctl(follow, termios.TIOCSWINSZ, struct.pack("HHHH", 500, width, 0, 0))
            with subprocess.Popen([PROGRAM, "list", "node_plane"], stdout=follow):
                os.close(follow)
                told = b""
                with contextlib.suppress(OSError):  # which is how a terminal ends
                    while part := os.read(lead, 65536):
                        told += part
            os.close(lead)
            self.assertEqual(told.decode().split(), words)
            for line in told.decode().splitlines():
                self.assertLessEqual(len(line), width, line)
                self.assertEqual(line, line.rstrip())

    def test_every_registered_part_is_listed(self):
        result = percuss("list")
        self.assertEqual(result.returncode, 0)
        first_words = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")]
        names = list(self.names())
        self.assertGreaterEqual(len(names), 15)
        for name in names:
            self.assertIn(name, first_words)

    def test_options_have_range_default_and_help(self):
        lines = [line.split() for line in percuss("list", "rod").stdout.splitlines()]
        self.assertIn("E number > 0 required Young's modulus, N/m^2".split(), lines)
        heads = [line[:13] for line in lines]
        self.assertIn("mass consistent or lumped or one_point or tuned or auto [auto] mass matrix;".split(), heads)

    def test_a_section_gives_all_its_parts(self):
        for name in ("contacts", "scheme", "schemes", "loads"):
            text = percuss("list", name).stdout
            for word in {"contacts": ("node_plane", "contacts.NAME"), "loads": ("loads.NAME", "torque")}.get(
                    name, ("alpha_ggl", "moreau_jean")):
                self.assertIn(word, text)
            self.assertNotIn("beam_exact_2d", text)
        self.assertIn("[0.2]", percuss("list", "incline").stdout + percuss("list", "ball").stdout)

    def test_markdown_has_tables(self):
        text = percuss("list", "--markdown").stdout
        for name in self.names():
            self.assertIn(f"### `{name}`", text)
        for line in text.splitlines():
            if line.startswith("|"):
                self.assertEqual(line.replace("\\|", "").count("|"), 5, line)


class Checks(unittest.TestCase):
    def test_shipped_cases_are_fine(self):
        for name in sorted(os.listdir("cases")):
            if not os.path.isfile(f"cases/{name}/case.yaml"):
                continue
            result = percuss("check", f"cases/{name}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"cases/{name}/case.yaml: fine, ", result.stdout)

    def test_unsupported_combinations_name_the_solver(self):
        result = percuss("check", CASE, "--set", "solver.linear=dense", "--set", "mesh.bar.elements=5000")
        self.assertEqual(result.returncode, 2)
        self.assertIn("solver: ", errors_of(result)[0])
        self.assertIn("dense", errors_of(result)[0])


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "a", "b")

    def history(self, folder):
        with open(os.path.join(folder, "history.csv")) as file:
            return list(csv.reader(line for line in file if not line.startswith("#")))

    def test_a_run_writes_results_and_says_where(self):
        result = percuss("run", CASE, "-o", self.out, *SHORT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Elastic bar against a rigid wall", result.stdout)
        self.assertIn(f"Open in ParaView: {self.out}/bar_impact.vtk.series", result.stdout)
        with open(os.path.join(self.out, "summary.txt")) as file:
            self.assertTrue(result.stdout.startswith(file.read()))
        for name in ("bar_impact.vtk.series", "history.csv", "summary.json", "summary.txt", "case.resolved.yaml"):
            self.assertTrue(os.path.isfile(os.path.join(self.out, name)), name)
        read_json(os.path.join(self.out, "summary.json"))
        rows = self.history(self.out)
        self.assertEqual(rows[0][:2], ["t", "step"])
        self.assertEqual(len(rows), 1 + 1 + 300)
        self.assertEqual([name for name in os.listdir(self.out) if name.endswith(".part")], [])

    def test_frames_that_are_not_there_are_not_offered(self):
        for frames in ("false", "{ window: [8, 9] }"):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "out")
                result = percuss("run", CASE, "--set", "time.end=0.1", "--set", f"output.frames={frames}", "-o", out)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout.splitlines()[-1], f"Results in {out}")

    def test_quiet_is_quiet(self):
        result = percuss("run", CASE, "-o", self.out, "--quiet", *SHORT)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertTrue(os.path.isfile(os.path.join(self.out, "summary.json")))

    def test_results_go_to_a_folder_of_the_case(self):
        case = os.path.abspath(CASE)
        result = percuss("run", case, "-q", *SHORT, cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.path.isfile(os.path.join(self.folder.name, "results/bar_impact/history.csv")))

    def test_a_simulation_that_cannot_go_on_keeps_its_results(self):
        # Far above the stable step the velocities overflow.
        sets = ["--set", "scheme={type: half_explicit}", "--set", "time={step: 0.05, end: 100, allow_unstable: true}",
                "--set", "certify=warn"]
        result = percuss("run", CASE, "-o", self.out, *sets)
        self.assertEqual(result.returncode, 1)
        self.assertIn("step ", errors_of(result)[-1])
        self.assertGreater(len(self.history(self.out)), 10)
        with open(os.path.join(self.out, "summary.json")) as file:
            self.assertIn("stopped", file.read())


if __name__ == "__main__":
    unittest.main()
