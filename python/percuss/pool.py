"""Worker processes, forked from this one, that take one piece of work after another, and the runs of a case that they
make through the library: those share a folder and are named by their hash."""

import contextlib
import ctypes
import gc
import mmap
import os
import pickle
import selectors
import signal
import socket
import sys
import threading
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

from . import _library as c
from . import measure
from .errors import InputError
from .text import Path, encode, errors_of, suggest

MOST_JOBS = 4096
MOST_KEPT = 1 << 28  # bytes of memory that stay with a process between two runs
PDEATHSIG, TRIM_THRESHOLD, MMAP_THRESHOLD = 1, -1, -3  # of prctl and mallopt
WATCH_INTERVAL = 0.05  # s of wall time between two looks at whether to stop


class Ended(NamedTuple):
    """What became of a run."""

    end: str = "not run"  #: or "done", "kept" (it was there), "refused", "failed", "broke" (the process has died)
    name: str = ""  #: of its folder
    reason: str = ""
    has_cells: bool = False  #: cells that could be smaller
    has_steps: bool = False  #: a step that does not follow the size of cells
    values: Mapping[str, measure.Measured] = {}
    contacts: tuple[Any, ...] = ()  #: measure.contacts_of

    @property
    def is_good(self) -> bool:
        """Whether it has results."""
        return self.end in ("done", "kept")


class Pool:
    """Makes `work(index)` for 0 <= index < count in `jobs` processes. An InputError that it raises ends all work and is
    raised again; a process that dies costs the piece that it was at."""

    def __init__(self, count: int, work: Callable[[int], Any], jobs: int = 0):
        self.work, self.left = work, iter(range(count))
        self.jobs = max(1, min(count, jobs or len(os.sched_getaffinity(0))))
        self.flag = mmap.mmap(-1, 1)  # shared with the workers

    def stop(self) -> None:
        """No further piece is begun; those under way may look at `is_stopped`."""
        self.flag[0] = 1

    @property
    def is_stopped(self) -> bool:
        return self.flag[0] != 0

    def _serve(self, pipe: socket.socket) -> None:
        """The life of a worker, which its parent ends, also while it waits: numbers of pieces come, results go."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the parent says when to stop
        libc = ctypes.CDLL(None)
        libc.prctl(PDEATHSIG, signal.SIGKILL)  # it does not outlive the parent
        # One run after another takes and gives back the same memory, which else costs as much time as the model.
        libc.mallopt(TRIM_THRESHOLD, MOST_KEPT)
        libc.mallopt(MMAP_THRESHOLD, MOST_KEPT // 8)
        gc.disable()  # a run leaves no circles behind
        pieces = pipe.makefile("rb")
        while True:
            index = pickle.load(pieces)
            try:
                answer = pickle.dumps(self.work(index))
            except Exception as error:
                self.stop()
                answer = pickle.dumps(error if isinstance(error, InputError) else RuntimeError(repr(error)))
            pipe.sendall(answer)

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Within it the first signal ends all work after the present steps, the second one at once."""
        def stop(number: int, _frame: Any) -> None:
            self.stop()
            if sys.stderr.isatty():
                print("\nstopping after this step; again to end at once", file=sys.stderr)
            signal.signal(number, old[signal.Signals(number)])

        is_main = threading.current_thread() is threading.main_thread()
        old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM) if is_main}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    def results(self, tick: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Any]]:
        """Gives (index, result) of every piece as they come, an Ended of one whose process has died; `tick` is called
        now and then."""
        at, raised = dict[Any, int](), dict[int, Exception]()  # what each busy worker is at, by the pipe to it
        ends = contextlib.ExitStack()
        answers = ends.enter_context(selectors.DefaultSelector())

        def begin(pipe: Any = None) -> None:
            """Gives the next piece, if there is one, to a worker, a new one without a pipe."""
            index = None if self.is_stopped else next(self.left, None)
            if index is None:
                return
            if pipe is None:
                pipe, other = socket.socketpair()
                if (pid := os.fork()) == 0:
                    try:
                        self._serve(other)
                    finally:
                        os._exit(1)
                other.close()
                stream = ends.enter_context(ends.enter_context(pipe).makefile("rb"))
                answers.register(pipe, selectors.EVENT_READ, (pid, stream))
            at[pipe] = index
            pipe.sendall(pickle.dumps(index))

        try:
            for _ in range(self.jobs):
                begin()
            while at:
                for ready, _ in answers.select(0.05):
                    index, (pid, stream) = at.pop(ready.fileobj, -1), ready.data
                    try:
                        result = pickle.load(stream)
                    except (EOFError, ConnectionError, pickle.UnpicklingError):  # it has ended
                        answers.unregister(ready.fileobj)
                        code = 0  # where another has waited, as for all whose parent ignores SIGCHLD
                        with contextlib.suppress(ChildProcessError):
                            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                        if index < 0:
                            continue  # while it waited
                        result = Ended("broke", reason="the process ended by "
                                       + (f"signal {-code}" if code < 0 else f"code {code}"))
                        begin()
                    else:
                        begin(ready.fileobj)
                    if isinstance(result, Exception):
                        raised[index] = result
                    else:
                        yield index, result
                tick()
        finally:
            self.stop()
            for ready in answers.get_map().values():
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(ready.data[0], signal.SIGKILL)
                    os.waitpid(ready.data[0], 0)  # else its processor time is nobody's
            ends.close()
        if raised:
            raise raised[min(raised)]  # not the one that came first: that may change


def find_case(name: str) -> str:
    """The path of a case: as it stands, or by its name among the cases of the folder, the tree or the installation."""
    if "/" in name or os.path.exists(name):
        return name
    library = os.path.dirname(os.path.realpath(str(c.lib.path)))
    folders = ["cases", *(os.path.join(library, up) for up in (
        "../cases", "../share/percuss/cases", "../../share/percuss/cases"))]
    for folder in folders:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    known = [entry for folder in folders if os.path.isdir(folder) for entry in os.listdir(folder)]
    raise InputError(f"'{name}' is no file, folder or name of a case{suggest(name, known)}")


class Runs:
    """Runs of a case, or of one of that name, with values of its keys for all of them. They go to FOLDER/runs/<hash>.
    Made before workers are forked."""

    def __init__(self, case: Path, folder: str, lines: Sequence[str], *, keep: bool = False, history: bool,
                 beside: int, is_stopped: Callable[[], bool] = lambda: False):
        self.folder, self.lines, self.is_stopped = folder, list(lines), is_stopped
        self._case = encode(find_case(os.fspath(case)), "case")
        with errors_of(folder):
            os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
        self._read = c_void_p()  # read once; a case that cannot be is the refusal of every run
        c.lib.percuss_read(byref(c.Source(self._case, None, 0, None, None)), byref(self._read))
        self._watch = c.Watch(lambda _user, _pointer: int(self.is_stopped()))
        self._once = c.Once(encode(os.path.join(folder, "runs"), "output"), self._read, 0.0, 0.0, keep, history, beside,
                            self._watch, None, WATCH_INTERVAL)

    def __del__(self) -> None:
        if hasattr(self, "_read"):
            c.lib.percuss_destroy(byref(self._read))

    def path(self, name: str) -> str:
        """The folder of a run."""
        return f"{self.folder}/runs/{name}"

    def make(self, lines: Sequence[str], *, mesh: float = 0.0, step: float = 0.0) -> Ended:
        """Makes a run with values of keys and parts of mesh size and step, unless it is there."""
        assignments = [encode(line, "set") for line in (*self.lines, *lines)]
        count = len(assignments)
        source = c.Source(self._case, None, count, (c_char_p * (count + 1))(*assignments), None)
        once, pointer = self._once, c_void_p()
        once.mesh_factor, once.step_factor = mesh, step
        answer = c.lib.percuss_run_once(byref(source), byref(once), byref(pointer))
        text = c.lib.percuss_message(pointer) if answer else c.lib.percuss_notes(pointer)
        reason = text.decode(errors="replace").partition("\n")[0]
        c.lib.percuss_destroy(byref(pointer))
        name = once.name.decode()
        if answer and self.is_stopped():
            return Ended("not run", name, "stopped on request")
        if answer:
            return Ended("failed" if name else "refused", name, reason)
        return Ended("kept" if once.was_there else "done", name, reason, bool(once.has_cells), bool(once.has_steps))

    def measured(self, lines: Sequence[str], factors: Mapping[str, float], measures: Mapping[str, str],
                 has_usual: bool = False) -> Ended:
        """A run with the values of its measures, and of the usual ones if they are wanted or there are no others."""
        run = self.make(lines, **factors)
        if not run.is_good:
            return run
        found, values = measure.Run(self.path(run.name), bool(factors)), dict[str, measure.Measured]()
        usual = measure.usual(found.summary) if has_usual or not measures else {}
        for name, formula in {**measures, **usual}.items():
            try:
                values[name] = found.measure(formula)
            except InputError as error:
                raise InputError(f"measure '{name}': {error}") from None
        return run._replace(values=values, contacts=measure.contacts_of(found.summary))
