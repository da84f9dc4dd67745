"""Worker processes, forked from this one, that take one piece of work after another."""

from __future__ import annotations

import contextlib
import ctypes
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
from typing import Any, Callable, Iterator, NamedTuple

from .errors import InputError

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
        self.tasks = os.memfd_create("tasks")  # forked processes share its offset: each reads another index
        os.write(self.tasks, b"".join(map(LENGTH.pack, range(count))))
        os.lseek(self.tasks, 0, os.SEEK_SET)

    def stop(self) -> None:
        """No further piece is begun; those under way may look at `is_stopped`."""
        self.shared[0] = 1

    @property
    def is_stopped(self) -> bool:
        return self.shared[0] != 0

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
        while not self.is_stopped and len(data := os.read(self.tasks, 8)) == 8:
            index, = LENGTH.unpack(data)
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
