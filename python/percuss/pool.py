"""Worker processes, forked from this one, that take one piece of work after another."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import pickle
import signal
import struct
import time
from typing import Any, Callable, Iterator, NamedTuple, Optional

from .errors import InputError

LENGTH = struct.Struct("=q")
MOST_KEPT = 1 << 28  # bytes of memory that stay with a process between two runs
STOP = 0  # place of the flag in the shared memory; the place after it is that of the first worker


class Broke(NamedTuple):
    """In place of a result: the process has died."""

    reason: str


class Pool:
    """Makes `work(index)` for 0 <= index < count in `jobs` processes. An InputError that it raises ends all work and is
    raised again; a process that dies costs the piece that it was at."""

    def __init__(self, count: int, work: Callable[[int], Any], jobs: int = 0):
        self.count, self.work = count, work
        self.jobs = max(1, min(count, jobs or len(os.sched_getaffinity(0))))
        self.shared = mmap.mmap(-1, 8 * (1 + self.jobs))  # flag, and the index that each worker is at
        self.workers: dict[int, tuple[int, int, bytearray]] = {}  # process: place, pipe of its results, what came
        self.sent = 0
        self.tasks = os.pipe()
        os.set_blocking(self.tasks[1], False)
        self.error: Optional[Exception] = None

    def stop(self) -> None:
        """No further piece is begun; those under way may look at `is_stopped`."""
        self.shared[8 * STOP] = 1

    @property
    def is_stopped(self) -> bool:
        return self.shared[8 * STOP] != 0

    def _serve(self, place: int, out: int) -> None:
        """The life of a worker."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        libc = ctypes.CDLL(None)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive the parent
        # One run after another takes and gives back the same memory, which else costs as much time as the model.
        libc.mallopt(-1, MOST_KEPT)  # M_TRIM_THRESHOLD
        libc.mallopt(-3, MOST_KEPT // 8)  # M_MMAP_THRESHOLD
        gc.disable()  # a run leaves no circles behind
        while not self.is_stopped and len(data := os.read(self.tasks[0], 8)) == 8:
            index, = LENGTH.unpack(data)
            LENGTH.pack_into(self.shared, 8 * place, index + 1)
            try:
                message = pickle.dumps((index, self.work(index)))
            except Exception as error:
                self.stop()
                message = pickle.dumps((index, error if isinstance(error, InputError) else RuntimeError(repr(error))))
            data = LENGTH.pack(len(message)) + message
            while data:
                data = data[os.write(out, data):]
            LENGTH.pack_into(self.shared, 8 * place, 0)

    def _hire(self, place: int) -> None:
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            status = 1
            try:
                os.close(read)
                os.close(self.tasks[1]) if self.tasks[1] >= 0 else None
                self._serve(place, write)
                status = 0
            finally:
                os._exit(status)
        os.close(write)
        os.set_blocking(read, False)
        self.workers[process] = (place, read, bytearray())

    def _feed(self) -> None:
        """Fills the pipe of the tasks; closes it behind the last one."""
        try:
            while self.sent < self.count and not self.is_stopped:
                os.write(self.tasks[1], LENGTH.pack(self.sent))
                self.sent += 1
        except BlockingIOError:
            return
        if self.tasks[1] >= 0:
            os.close(self.tasks[1])
            self.tasks = (self.tasks[0], -1)

    def _read(self, process: int) -> Iterator[tuple[int, Any]]:
        """What a worker has sent since."""
        _, pipe, came = self.workers[process]
        try:
            while data := os.read(pipe, 1 << 20):
                came += data
        except BlockingIOError:
            pass
        at = 0
        while len(came) >= at + 8 and len(came) >= at + 8 + LENGTH.unpack_from(came, at)[0]:
            end = at + 8 + LENGTH.unpack_from(came, at)[0]
            index, result = pickle.loads(came[at + 8:end])
            at = end
            if isinstance(result, Exception):
                self.error = self.error or result
            else:
                yield index, result
        del came[:at]

    def _bury(self, process: int, status: int) -> Iterator[tuple[int, Any]]:
        place, pipe, _ = self.workers.pop(process)
        os.close(pipe)
        index = LENGTH.unpack_from(self.shared, 8 * place)[0] - 1
        LENGTH.pack_into(self.shared, 8 * place, 0)
        if status == 0:
            return
        if index >= 0:
            by = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"code {os.WEXITSTATUS(status)}"
            yield index, Broke(f"the process ended by {by}")
        if not self.is_stopped:
            self._hire(place)

    def results(self, tick: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Any]]:
        """Gives (index, result) of every piece as they come; `tick` is called now and then."""
        begin = time.monotonic()
        try:
            self._feed()
            for place in range(1, self.jobs + 1):
                self._hire(place)
            while self.workers:
                if self.tasks[1] >= 0:
                    self._feed()
                for process in list(self.workers):
                    ended, status = os.waitpid(process, os.WNOHANG)
                    yield from self._read(process)
                    if ended:
                        yield from self._bury(process, status)
                tick()
                if self.workers:
                    time.sleep(min(max(0.02 * (time.monotonic() - begin), 1e-3), 0.05))
        finally:
            self.stop()
            for process, (_, pipe, _) in self.workers.items():
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                os.close(pipe)
            for end in self.tasks:
                if end >= 0:
                    os.close(end)
        if self.error is not None:
            raise self.error
