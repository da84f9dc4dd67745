"""Worker processes, forked from this one, that take one piece of work after another, and the runs of a case that they
make through the library: those share a folder and are named by their hash."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import mmap
import multiprocessing
import os
import select
import signal
import struct
import sys
import threading
import time
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

from . import _library as c
from .errors import InputError
from .files import make_folder
from .text import encode

LENGTH = struct.Struct("=q")
MOST_KEPT = 1 << 28  # bytes of memory that stay with a process between two runs


class Broke(NamedTuple):
    """In place of a result: the process has died."""

    reason: str


class Pool:
    """Makes `work(index)` for 0 <= index < count in `jobs` processes. An InputError that it raises ends all work and is
    raised again; a process that dies costs the piece that it was at."""

    def __init__(self, count: int, work: Callable[[int], Any], jobs: int = 0):
        self.work = work
        self.jobs = max(1, min(count, jobs or len(os.sched_getaffinity(0))))
        self.shared = mmap.mmap(-1, 8 * (1 + self.jobs))  # the flag to stop, and 1 + the index that each worker is at
        self.tasks = os.memfd_create("tasks")  # forked processes share its offset
        os.write(self.tasks, b"".join(map(LENGTH.pack, range(count))))
        os.lseek(self.tasks, 0, os.SEEK_SET)

    def stop(self) -> None:
        """No further piece is begun; those under way may look at `is_stopped`."""
        self.shared[0] = 1

    @property
    def is_stopped(self) -> bool:
        return self.shared[0] != 0

    def _take(self) -> Optional[int]:
        """The next index that no worker has taken, None at the end. Linux does not guard the offset of a file in
        memory, so that without the lock two workers may read the same index; the lock ends with its process."""
        fcntl.lockf(self.tasks, fcntl.LOCK_EX)
        data = os.read(self.tasks, LENGTH.size)
        fcntl.lockf(self.tasks, fcntl.LOCK_UN)
        return LENGTH.unpack(data)[0] if data else None

    def _serve(self, place: int, out: Any) -> None:
        """The life of a worker."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        libc = ctypes.CDLL(None)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive the parent
        # One run after another takes and gives back the same memory, which else costs as much time as the model.
        libc.mallopt(-1, MOST_KEPT)  # M_TRIM_THRESHOLD
        libc.mallopt(-3, MOST_KEPT // 8)  # M_MMAP_THRESHOLD
        gc.disable()  # a run leaves no circles behind
        while not self.is_stopped and (index := self._take()) is not None:
            LENGTH.pack_into(self.shared, 8 * place, index + 1)
            try:
                out.send((index, self.work(index)))
            except Exception as error:
                self.stop()
                out.send((index, error if isinstance(error, InputError) else RuntimeError(repr(error))))
            LENGTH.pack_into(self.shared, 8 * place, 0)
        os._exit(0)

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Within it the first signal ends all work after the present steps, the second one at once."""
        def restore() -> None:
            for number, handler in old.items():
                signal.signal(number, handler)

        def stop(_number: int, _frame: Any) -> None:
            self.stop()
            if sys.stderr.isatty():
                print("\nstopping after this step; again to end at once", file=sys.stderr)
            restore()

        is_main = threading.current_thread() is threading.main_thread()
        old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM) if is_main}
        try:
            yield
        finally:
            restore()

    def results(self, tick: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Any]]:
        """Gives (index, result) of every piece as they come; `tick` is called now and then."""
        context, begin, workers = multiprocessing.get_context("fork"), time.monotonic(), dict[int, Any]()
        raised: list[tuple[int, Exception]] = []

        def hire(place: int) -> None:
            pipe, out = context.Pipe(duplex=False)
            process = context.Process(target=self._serve, args=(place, out), daemon=True)
            process.start()
            out.close()
            workers[place] = process, pipe

        try:
            for place in range(1, self.jobs + 1):
                hire(place)
            while workers:
                for place, (process, pipe) in list(workers.items()):
                    has_ended = process.exitcode is not None
                    with contextlib.suppress(EOFError):
                        while select.select([pipe], [], [], 0)[0]:
                            index, result = pipe.recv()
                            if isinstance(result, Exception):
                                raised.append((index, result))
                            else:
                                yield index, result
                    if not has_ended:
                        continue
                    del workers[place]
                    index = LENGTH.unpack_from(self.shared, 8 * place)[0] - 1
                    LENGTH.pack_into(self.shared, 8 * place, 0)
                    if process.exitcode and index >= 0:
                        yield index, Broke("the process ended by "
                                           + (f"signal {-process.exitcode}" if process.exitcode < 0 else
                                              f"code {process.exitcode}"))
                    if process.exitcode and not self.is_stopped:
                        hire(place)
                tick()
                if workers:
                    time.sleep(min(max(0.02 * (time.monotonic() - begin), 1e-3), 0.05))
        finally:
            self.stop()
            for process, _ in workers.values():
                process.kill()
                process.join()
            os.close(self.tasks)
        if raised:
            raise min(raised, key=lambda pair: pair[0])[1]  # not the one that came first: that may change


# ---- Runs ----

WATCH_INTERVAL = 0.05  # s of wall time between two looks at whether to stop


class Ended(NamedTuple):
    """What became of a run."""

    end: str = "not run"  #: or "done", "kept" (it was there), "refused", "failed", "broke" (the process has died)
    name: str = ""  #: of its folder
    reason: str = ""
    has_cells: bool = False  #: where something is refined: cells that could be smaller
    has_steps: bool = False  #: likewise: a step that does not follow their size
    values: Mapping[str, tuple[float, float]] = {}  #: of measures: value and grain

    @property
    def is_good(self) -> bool:
        """Whether it has results."""
        return self.end in ("done", "kept")


class Runs:
    """A case whose runs go to FOLDER/runs/<hash>. Made before workers are forked."""

    def __init__(self, case: str, folder: str, *, keep: bool, history: bool, beside: int,
                 is_stopped: Callable[[], bool] = lambda: False):
        self.folder, self.is_stopped = folder, is_stopped
        make_folder(os.path.join(folder, "runs"))
        self._case = encode(case, "case")
        self._read = c_void_p()  # read once; a case that cannot be is the refusal of every run
        c.lib.percuss_read(byref(c.Source(self._case, None, 0, None, None)), byref(self._read))
        self._watch = c.Watch(lambda _user, _pointer: int(self.is_stopped()))
        self._once = c.Once(encode(os.path.join(folder, "runs"), "output"), self._read, 0.0, 0.0, keep, history, beside,
                            self._watch, None, WATCH_INTERVAL)

    def __del__(self) -> None:
        c.lib.percuss_destroy(byref(self._read))

    def path(self, name: str) -> str:
        """The folder of a run."""
        return f"{self.folder}/runs/{name}"

    def make(self, assignments: Sequence[bytes], mesh_factor: float = 0.0, step_factor: float = 0.0) -> Ended:
        """Makes a run, unless it is there."""
        count = len(assignments)
        source = c.Source(self._case, None, count, (c_char_p * (count + 1))(*assignments), None)
        once, pointer = self._once, c_void_p()
        once.mesh_factor, once.step_factor = mesh_factor, step_factor
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
