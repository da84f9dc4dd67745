"""Little address space and a small stack: every limit is refused or kept to, within a second of the processor.

OpenBLAS asks for its buffer again and again, for ever, where there is no room for it, and with threads before main.
Folders with other builds of the BLAS may follow in PERCUSS_BLAS, between colons.
"""

import os
import resource

import faults

BOUND = 1.0  # s of the processor
MISSING = 127  # the loader finds no room for the libraries, and says so


def limit(kind, size):
    return lambda: (resource.setrlimit(kind, (size, size)),
                    resource.setrlimit(resource.RLIMIT_CPU, (int(2 * BOUND), int(2 * BOUND))))


def attempt(c, what, kind, size, command, environment):
    # A program that hangs in the loader is ended by its limit of processor time.
    result = c.run(*command, preexec_fn=limit(kind, size), env=environment, bound=20.0)
    if result.status == MISSING and "loading shared libraries" in result.err:
        c.check(True, what)
    else:
        c.ends_well(what, result)


def commands(c):
    bar, rotor = (os.path.join(c.source, "cases", name) for name in ("bar_impact", "rotor"))
    end = ["--set", "time.end=0.02"]
    return [["run", bar, *end, "-q", "-o", c.path("out")], ["check", bar, "-q"], ["--version"],
            ["modes", rotor, "--count", "2", "-q", "-o", c.path("modes")]]


def campaign(c):
    few = c.most is not None
    libraries = ["", *filter(None, os.environ.get("PERCUSS_BLAS", "").split(":"))]
    for library in libraries:
        environment = os.environ | ({"LD_LIBRARY_PATH": library} if library else {})
        for command in commands(c)[: 1 if few else None]:
            for megabytes in range(20, 401, 40 if few else 5):
                attempt(c, f"{command[0]} with {megabytes} MB {library}", resource.RLIMIT_AS, megabytes * 1000 * 1000,
                        command, environment)
    for command in commands(c):
        for kilobytes in (64, 256) if few else (16, 32, 64, 100, 128, 200, 256, 300, 512):
            attempt(c, f"{command[0]} with a stack of {kilobytes} kB", resource.RLIMIT_STACK, kilobytes << 10, command,
                    dict(os.environ))


faults.main(campaign, "60")
