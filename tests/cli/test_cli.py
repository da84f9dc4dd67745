"""The command line: exit status, messages, results on disk, interruption. Argument: the path of the program."""

import os
import re
import shutil
import subprocess
import unittest

import program
from program import HANG, PROGRAM, TOOLS, has_tools, on_terminal, percuss, read_file, read_json, read_rows

CASE = "cases/bar_impact"
SHORT = ["--set", "time.end=0.6", "--set", "mesh.bar.elements=20"]


def errors_of(result):
    return [line for line in result.stderr.splitlines() if line.startswith("error: ")]


class Usage(program.Cases):
    def refused(self, arguments, *parts):
        result = percuss(*arguments, status=2, stdout="")
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
        hello = self.write("percuss-hello", '#!/bin/sh\nfor word; do echo "<$word>"; done\nexit 7\n')
        os.chmod(hello, 0o755)
        path = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        said = percuss("hello", "--set", "a b", "", "-x", env=path, status=7)
        self.assertEqual(said.stdout, "<--set>\n<a b>\n<>\n<-x>\n")
        self.assertEqual(percuss("help", "hello", env=path).stdout, "<--help>\n")
        percuss("run", "--help", env=path, status=0)
        os.chmod(hello, 0o644)
        self.refused(["hello"], "unknown command 'hello'")
        # The program alone, without the Python package.
        alone = shutil.copy(PROGRAM, self.path("percuss"))
        result = subprocess.run([alone, "fit"], capture_output=True, text=True, env={"PATH": ""}, timeout=HANG)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
        self.assertIn("install the Debian package python3-percuss", result.stderr)
        self.refused(["../hello"], "unknown command '../hello'")

    def test_help_and_version(self):
        for arguments in (["--help"], ["-h"], ["help"], ["help", "help"]):
            result = percuss(*arguments, status=0)
            self.assertEqual(result.stderr, "")
            for word in ("run CASE", "check CASE", "list", "--set", "--quiet", "Exit status"):
                self.assertIn(word, result.stdout)
        tools = TOOLS[1:] if has_tools() else TOOLS  # all of them go the same way
        for verb in re.findall(r"percuss ([a-z]+) ", percuss().stderr):
            if verb in tools or verb == "converge":
                continue
            told = percuss("help", verb, status=0, stderr="")
            self.assertEqual(percuss(verb, "--help").stdout, told.stdout)
            self.assertTrue(told.stdout.startswith("usage: percuss"))
            if verb != "help":
                self.assertNotIn("\n  --man ", told.stdout)
                self.assertEqual("\n  --whirl " in told.stdout, verb == "modes")
                self.assertEqual("percuss" in told.stdout[15:].split("\n\n")[0], False)
        self.refused(["help", "rnu"], "error: unknown command 'rnu', did you mean 'run'?")
        version = percuss("--version", status=0)
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
        words = percuss("list", "node_plane").stdout.split()
        for width in (50, 80, 200):
            told = on_terminal("list", "node_plane", width=width)
            self.assertEqual(told.split(), words)
            for line in told.splitlines():
                self.assertLessEqual(len(line), width, line)
                self.assertEqual(line, line.rstrip())

    def test_every_registered_part_is_listed(self):
        result = percuss("list", status=0)
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
            self.assertIn(f"cases/{name}/case.yaml: fine, ", percuss("check", f"cases/{name}", status=0).stdout)

    def test_unsupported_combinations_name_the_solver(self):
        result = percuss("check", CASE, "--set", "solver.linear=dense", "--set", "mesh.bar.elements=5000", status=2)
        self.assertIn("solver: ", errors_of(result)[0])
        self.assertIn("dense", errors_of(result)[0])


class Runs(program.Cases):
    def setUp(self):
        super().setUp()
        self.out = self.path("a", "b")

    def test_a_run_writes_results_and_says_where(self):
        result = percuss("run", CASE, "-o", self.out, *SHORT, status=0)
        self.assertIn("Elastic bar against a rigid wall", result.stdout)
        self.assertIn(f"Open in ParaView: {self.out}/bar_impact.vtk.series", result.stdout)
        self.assertTrue(result.stdout.startswith(read_file(os.path.join(self.out, "summary.txt"))))
        for name in ("bar_impact.vtk.series", "history.csv", "summary.json", "summary.txt", "case.resolved.yaml"):
            self.assertTrue(os.path.isfile(os.path.join(self.out, name)), name)
        read_json(os.path.join(self.out, "summary.json"))
        rows = read_rows(os.path.join(self.out, "history.csv"))
        self.assertEqual(list(rows[0])[:2], ["t", "step"])
        self.assertEqual(len(rows), 1 + 300)
        self.assertEqual([name for name in os.listdir(self.out) if name.endswith(".part")], [])

    def test_frames_that_are_not_there_are_not_offered(self):
        for frames in ("false", "{ window: [8, 9] }"):
            words = [CASE, "--set", "time.end=0.1", "--set", f"output.frames={frames}", "--overwrite", "-o", self.out]
            self.assertEqual(percuss("run", *words, status=0).stdout.splitlines()[-1], f"Results in {self.out}")

    def test_quiet_is_quiet(self):
        percuss("run", CASE, "-o", self.out, "--quiet", *SHORT, status=0, stdout="", stderr="")
        self.assertTrue(os.path.isfile(os.path.join(self.out, "summary.json")))

    def test_results_go_to_a_folder_of_the_case(self):
        case = os.path.abspath(CASE)
        percuss("run", case, "-q", *SHORT, cwd=self.folder, status=0)
        self.assertTrue(os.path.isfile(self.path("results/bar_impact/history.csv")))

    def test_a_simulation_that_cannot_go_on_keeps_its_results(self):
        # Far above the stable step the velocities overflow.
        sets = ["--set", "scheme={type: half_explicit}", "--set", "time={step: 0.05, end: 100, allow_unstable: true}",
                "--set", "certify=warn"]
        self.assertIn("step ", errors_of(percuss("run", CASE, "-o", self.out, *sets, status=1))[-1])
        self.assertGreater(len(read_rows(os.path.join(self.out, "history.csv"))), 9)
        self.assertIn("stopped", read_file(os.path.join(self.out, "summary.json")))


unittest.main()
