"""Standard streams that are closed, full or broken: results are the same, or a message says what was not written."""

import itertools
import os
import signal

import faults


def closing(numbers):
    def close():
        for number in numbers:
            os.close(number)
    return close


def broken_pipe():
    read, write = os.pipe()
    os.close(read)
    return write


def commands(c):
    case = os.path.join(c.source, "cases", "bar_impact")
    return {"run": ["run", case, "--set", "time.end=0.1", "-o", c.path("out")], "check": ["check", case],
            "list": ["list"], "bad": ["run", c.path("none.yaml")], "help": ["--help"]}


def closed(c, reference):
    for name, command in commands(c).items():
        for count in (1, 2, 3):
            for numbers in itertools.combinations((0, 1, 2), count):
                what = f"{name} with {numbers} closed"
                result = c.run(*command, preexec_fn=closing(numbers))
                c.ends_well(what, result, hears=2 not in numbers)
                if name == "run":
                    c.check(result.status == 0 and faults.results(c.path("out")) == reference, f"{what}: other results")
                if name == "bad":
                    c.check(result.status == 2, f"{what}: exit {result.status}, not 2")


def full(c, reference):
    for name, command in commands(c).items():
        for stream in ("stdout", "stderr"):
            with open("/dev/full", "wb") as device:
                result = c.run(*command, **{stream: device})
            what = f"{name} with {stream} full"
            c.ends_well(what, result, hears=stream != "stderr")
            if stream == "stdout" and name not in ("bad",):
                c.check(result.status == 1, f"{what}: exit {result.status}, not 1")
            if name == "run":
                c.check(faults.results(c.path("out")) == reference, f"{what}: other results")
        for stream in ("stdout", "stderr"):
            pipe = broken_pipe()
            result = c.run(*command, **{stream: pipe}, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
            os.close(pipe)
            # A reader that has gone ends a program as it ends any other; nothing else may.
            c.check(result.status in (0, 1, 2, -signal.SIGPIPE), f"{name} with {stream} broken: exit {result.status}")


def campaign(c):
    c.run(*commands(c)["run"])
    reference = faults.results(c.path("out"))
    c.check(len(reference) > 2, "the reference has no results")
    closed(c, reference)
    full(c, reference)


faults.main(campaign)
