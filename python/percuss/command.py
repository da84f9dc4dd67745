"""Commands that look at results: `percuss NAME ...`, `python3 -m percuss NAME ...`.

A command is the module percuss._NAME with a function main(argv) -> exit status: 0 done, 1 it could not go on, 2 bad
input or usage. What it raises as InputError, SimulationError or OSError becomes lines on the screen, without a
traceback.
"""

import argparse
import importlib
import os
import re
import sys
from typing import Any, NoReturn

from .errors import InputError, PercussError
from .text import suggest

DONE, COULD_NOT_GO_ON, BAD_USAGE = 0, 1, 2
COMMANDS = ("study", "plot", "compare", "report", "view", "fit", "converge")
PACKAGES = {"PIL": "python3-pil", "yaml": "python3-yaml"}  # Debian packages that are not python3-MODULE


class Parser(argparse.ArgumentParser):
    """The arguments of a command; what is wrong with them is one line and the usage, exit status 2."""

    def __init__(self, name: str, summary: str, **more: Any):
        super().__init__(prog=f"percuss {name}", description=summary, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.add_argument("-q", "--quiet", action="store_true", help="nothing on the screen")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; `--complete WORD...` prints what the last word may become, for `percuss complete`."""
        if args[:1] == ["--complete"]:
            self._complete(args[1:] or [""])
            sys.exit(DONE)
        return super().parse_known_args(args, namespace)

    def _complete(self, words: list[str]) -> None:
        """A line per candidate, with a tab and a few words about it; `:files` asks for names of files."""
        present, before = words[-1], words[-2:-1] or [""]
        before = words[-3:-2] if before == ["="] else before  # as bash breaks --set=x
        option = self._option_string_actions.get(before[0] if before else "")
        what = option if option is not None and option.nargs != 0 else self._get_positional_actions()[0]
        kind = str(what.metavar)
        if what is not option and present.startswith("-"):
            found = [f"{name}\t{action.help}" for name, action in self._option_string_actions.items()]
        elif "path.to.key" in kind or "CASE" in kind:  # the program completes names and keys of cases
            import subprocess

            from ._library import program
            asked = [words[0], "--set", present] if "path.to.key" in kind else [present]
            subprocess.run([program(), "complete", "run", *asked], check=False)
            return
        else:
            found = list(what.choices or [word for word in kind.split("|") if word.islower() and word.isalpha()])
            found += [":files"] if what is not option or kind.startswith(("DIR", "FILE", "PICTURE", "PAGE")) else []
        print(*(word for word in found if word.startswith((present, ":"))), sep="\n")

    def add_usual(self, results: str) -> None:
        """Options of commands that make runs; `results` go to DIR."""
        self.add_argument("-j", "--jobs", metavar="N", help="runs at a time, 0: the number of processors [0]")
        self.add_argument("-o", "--output", metavar="DIR",
                          help=f"where {results} go [results/<case>_{self.prog.split()[1]}]")
        self.add_argument("--set", metavar="path.to.key=value", action="append", default=[], help="a value of all runs")

    def output(self, given: argparse.Namespace) -> str:
        """The folder of results of such a command."""
        stem = os.path.basename(os.path.normpath(given.case))
        stem = os.path.splitext(stem)[0] or stem
        return given.output or os.path.join("results", f"{stem}_{self.prog.split()[1]}")

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()[0] if message.startswith("unrec") else ""
        if unknown.startswith("-"):
            message = f"unknown option '{unknown}'{suggest(unknown, self._option_string_actions)}"
        elif unknown:
            message = f"one argument too many: '{unknown}'"
        print("error: " + re.sub("^argument ([^:]*): must", r"\1 must", message), file=sys.stderr)
        self.print_usage(sys.stderr)
        sys.exit(BAD_USAGE)


def show_errors(text: str) -> None:
    """Prints every line of a message as an error of its own."""
    for line in text.splitlines():
        print(line if line.startswith(("...", "error:")) else f"error: {line}", file=sys.stderr)


def run(name: str, argv: list[str]) -> int:
    """Runs a command; gives its exit status."""
    ranks = os.environ.get("OMPI_COMM_WORLD_SIZE") or os.environ.get("PMI_SIZE") or "1"
    if ranks != "1":
        show_errors(f"'{name}' is for one process: start it without mpiexec")
        return BAD_USAGE
    try:
        answer: int = importlib.import_module(f"percuss._{name}").main(argv)
        return answer
    except SystemExit as end:  # of the parser
        return end.code if isinstance(end.code, int) else BAD_USAGE if end.code else DONE
    except ModuleNotFoundError as error:
        top = (error.name or "?").split(".")[0]
        show_errors(f"percuss {name} needs the Python module {top}: install the Debian package "
                    f"{PACKAGES.get(top, 'python3-' + top)}")
        return BAD_USAGE
    except PercussError as error:
        show_errors(str(error))
        return BAD_USAGE if isinstance(error, InputError) else COULD_NOT_GO_ON
    except BrokenPipeError:  # the reader of the screen output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        show_errors(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        show_errors("stopped on request")
    except Exception as error:  # a fault of this program, or files that are damaged beyond what was foreseen
        if os.environ.get("PERCUSS_TRACEBACK"):
            import traceback
            traceback.print_exc()
        what = " ".join(f"{type(error).__name__}: {error}".split())
        show_errors(f"percuss {name} could not go on: {what[:300]} (PERCUSS_TRACEBACK=1 shows where)")
    return COULD_NOT_GO_ON


def main(argv: list[str]) -> int:
    """`python3 -m percuss NAME ...`."""
    if argv and argv[0] in COMMANDS:
        return run(argv[0], argv[1:])
    is_help = argv[:1] in (["-h"], ["--help"])
    print(f"usage: python3 -m percuss {{{','.join(COMMANDS)}}} ...", file=sys.stdout if is_help else sys.stderr)
    return DONE if is_help else BAD_USAGE
