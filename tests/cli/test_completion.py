"""Completion for shells and the page of the manual: both are made from the usage and the help, and say what the
program takes. Argument: the path of the program."""

import os
import re
import shutil
import subprocess
import unittest

import program
from program import HANG, PROGRAM, TOOLS, has_tools


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG, **options)


def complete(*words, folder=None):
    answer = run(PROGRAM, "complete", *words, cwd=folder)
    assert answer.returncode == 0, answer.stderr
    return [line.split("\t")[0] for line in answer.stdout.splitlines()]


HELP = run(PROGRAM, "help").stdout
USAGE = HELP.split("\n\n")[0]
VERBS = re.findall(r"percuss ([a-z]+)", USAGE)
OPTIONS = {name for line in re.findall(r"^  (-.*?)(?:  |$)", HELP, re.M) if not line.startswith("-- ")
           for name in re.findall(r"(?<!\S)--?\w[\w-]*", line)}


class Words(program.Cases):
    def test_verbs(self):
        self.assertEqual(complete(""), VERBS)
        self.assertEqual(complete("st"), ["statics", "study"])
        self.assertEqual(complete("--v"), ["--version"])

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_options_of_a_verb_are_those_that_it_takes(self):
        from tools import call
        offered = set()
        for verb in VERBS:
            options = [word for word in complete(verb, "x", "-") if word not in ("--help", "-h")]
            offered |= set(options)
            for option in options:
                value = {"--about": "statics"}.get(option, "1")
                words = ["nothing_of_this_name", option, value]
                answer = call(verb, *words) if verb in TOOLS else run(PROGRAM, verb, *words)
                self.assertNotRegex(answer.stderr, r"unknown option|is an option of|is for (?!statics)", verb)
        self.assertEqual(OPTIONS - offered, set())

    def test_cases(self):
        names = complete("run", "bar")
        self.assertIn("bar_impact", names)
        self.assertEqual(names[-1], ":files")
        self.assertEqual(set(complete("run", "")) - {":files"},
                         {name for name in os.listdir("cases") if os.path.isdir(os.path.join("cases", name))})

    def test_installed_cases(self):
        os.mkdir(self.path("bin"))
        own = shutil.copy(PROGRAM, self.path("bin"))
        shutil.copytree("cases/ball", self.path("share/percuss/cases/ball"))
        for words, wanted in ((["run", "b"], ["ball", ":files"]),
                              (["run", "ball", "--set", "system.m"], ["system.mass="])):
            self.assertEqual(run(own, "complete", *words, cwd=self.folder).stdout.split(), wanted)

    def test_keys_of_the_case(self):
        self.assertEqual(complete("run", "bar_impact", "--set", "mes"), ["mesh."])
        self.assertEqual(complete("run", "bar_impact", "--set", "mesh.bar.e"), ["mesh.bar.elements="])
        self.assertEqual(complete("run", "beam_pile", "--set", "parameters."), ["parameters.n=", "parameters.mu="])
        if has_tools():
            self.assertEqual(complete("study", "bar_impact", "--vary", "initial.0.vel"), ["initial.0.velocity="])
            self.assertEqual(complete("fit", "x", "--data", ""), [":files"])
        # Keys that the case leaves out, and copies of an entry, are there, too.
        self.assertEqual(complete("run", "bar_impact", "--set", "contacts.wall.fr"), ["contacts.wall.friction="])
        self.assertEqual(complete("run", "beam_pile", "--set", "contacts.l0"),
                         ["contacts.l0b."] + [f"contacts.l0b{i}." for i in range(1, 5)])
        self.assertEqual(complete("run", "nothing", "--set", "m"), [])
        # As bash breaks --set=mesh.
        self.assertEqual(complete("run", "bar_impact", "--set", "=", "mesh.bar.e"), ["mesh.bar.elements="])
        self.assertEqual(complete("run", "bar_impact", "--set", "mesh.bar.elements", "=", ""), [])

    def test_every_key_that_is_offered_is_taken(self):
        def leaves(prefix):
            for word in complete("check", "bar_impact", "--set", prefix):
                if word.endswith("="):
                    yield word
                else:
                    yield from leaves(word)
        words = list(leaves(""))
        self.assertGreater(len(words), 50)
        for word in words:
            answer = run(PROGRAM, "check", "bar_impact", "--set", word + "{ wrong: 1 }")
            self.assertNotIn("unknown key '" + word.split(".")[-1], answer.stderr)

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_values_and_names(self):
        self.assertEqual(complete("modes", "x", "--about", ""), ["statics"])
        self.assertEqual(complete("view", "x", "--time", "p"), ["peak"])
        self.assertEqual(complete("run", "x", "--output", ""), [":files"])
        self.assertEqual(complete("run", "x", "-o", ""), [":files"])
        self.assertEqual(complete("new", "tw"), ["two_bars"])
        self.assertEqual(complete("list", "node_pl"), ["node_plane"])
        self.assertIn("contacts", complete("list", "con"))


class Shells(program.Cases):
    def bash(self, *words):
        script = 'source cmake/completions/percuss.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _percuss; ' \
                 'printf "%s\\n" "${COMPREPLY[@]}"'
        answer = run("bash", "--norc", "-c", script, "bash", PROGRAM, *words)
        self.assertEqual(answer.stderr, "")
        return answer.stdout.split("\n")[:-1]

    def test_bash(self):
        self.assertEqual(self.bash("sta"), ["statics"])
        self.assertEqual(self.bash("run", "bar_imp"), ["bar_impact"])
        self.assertEqual(self.bash("run", "cases/bar_imp"), ["cases/bar_impact"])
        self.assertEqual(self.bash("run", "bar_impact", "--q"), ["--quiet"])
        self.assertEqual(self.bash("run", "bar_impact", "--set", "mesh.bar.t"), ["mesh.bar.type=", "mesh.bar.to="])
        # What stands behind the word that is being written does not count.
        script = 'source cmake/completions/percuss.bash; COMP_WORDS=("$1" ru bar_impact); COMP_CWORD=1; _percuss; ' \
                 'echo "${COMPREPLY[@]}"'
        self.assertEqual(run("bash", "--norc", "-c", script, "bash", PROGRAM).stdout, "run\n")

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not there")
        self.assertEqual(run("zsh", "-f", "-n", "cmake/completions/_percuss").stderr, "")
        script = "compadd() { print -r -- \"$@\"; }; _files() { print files; }; words=(\"$@\"); CURRENT=$#; " \
                 "f() { source cmake/completions/_percuss; }; f"
        answer = run("zsh", "-f", "-c", script, "zsh", PROGRAM, "run", "bar_impact", "--set", "mesh.bar.e")
        self.assertEqual((answer.stdout, answer.stderr), ("-S  -a open_ended\n", ""))
        answer = run("zsh", "-f", "-c", script, "zsh", PROGRAM, "run", "bar_imp")
        self.assertEqual((answer.stdout, answer.stderr), ("files\n-l -d shown -a plain\n", ""))

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not there")
        self.assertEqual(run("fish", "-n", "cmake/completions/percuss.fish").stderr, "")
        home = {name: str(self.folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        environment = {**os.environ, **home, "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}
        for line, wanted in (("percuss run bar_impact --set mesh.bar.e", "mesh.bar.elements=\n"),
                             ("percuss sta", "statics\tequilibrium")):
            script = f"source cmake/completions/percuss.fish; complete -C '{line}'"
            answer = run("fish", "--no-config", "-c", script, env=environment)
            self.assertTrue(answer.stdout.startswith(wanted), answer.stdout + answer.stderr)


class Manual(unittest.TestCase):
    PAGE = run(PROGRAM, "help", "--man").stdout

    def test_structure(self):
        lines = self.PAGE.splitlines()
        self.assertTrue(lines[0].startswith(".TH PERCUSS 1 "), lines[0])
        self.assertEqual([line[4:].strip('"') for line in lines if line.startswith(".SH ")][:6],
                         ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS"])
        for line in lines:
            self.assertRegex(line, r"^(\.(TH|SH|TP|B|I|BR|nf|fi)\b|[^.'])", line)
            self.assertNotRegex(line, r"(?<!\\)-", line)

    def test_every_verb_and_option_is_there(self):
        text = self.PAGE.replace("\\-", "-")
        for verb in VERBS:
            self.assertIn(f".TP\n.B {verb}\n", text)
        self.assertGreater(len(OPTIONS), 10)
        for option in OPTIONS:
            self.assertRegex(text, rf"\.TP\n\.B [^\n]*{option}\b")

    def test_it_is_shown_without_warnings(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not there")
        answer = run("groff", "-man", "-Tutf8", "-ww", "-z", input=self.PAGE)
        self.assertEqual((answer.stderr, answer.returncode), ("", 0))
        shown = run("groff", "-man", "-Tascii", "-P-cbou", input=self.PAGE).stdout
        self.assertIn("--set path.to.key=value", shown)
        self.assertIn("percuss run CASE [-o DIR]", shown)

    def test_it_belongs_to_help(self):
        answer = run(PROGRAM, "run", "bar_impact", "--man")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--man is an option of help", answer.stderr)


unittest.main()
