"""Files that have no end, pipes that nobody writes to, and links in the place of results."""

import os
import socket
import stat

import faults

BOUND = 10.0  # s of a try; one that reads or waits for ever takes longer
MODEL = """
mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }
elements: { bar: { type: rod, mesh: bar, E: 1.0e+9, rho: 1000.0, area: 1.0e-4 } }
"""
RUN = "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-4, end: 1.0e-3 }\n"
PUSH = "loads: { push: { type: force, node: bar.end, value: [1, 0, 0], amplitude: { csv: FILE } } }\n"
USES = {
    "include": "include: FILE\n" + MODEL + RUN,
    "gmsh": "mesh: { bar: { type: gmsh, file: FILE } }\n" + MODEL.splitlines()[2] + "\n" + RUN,
    "csv": MODEL + PUSH + RUN,
    "start": MODEL + "start: { from: FILE }\n" + RUN,
    "plugin": "system: { plugin: FILE }\n" + RUN,
}
VICTIM = "not to be written to\n"


def endless(c):
    """Paths to what is no file, or far too long a one."""
    os.mkfifo(c.path("pipe"))
    os.mkdir(c.path("folder"))
    os.mkfifo(c.path("folder", "checkpoint.bin"))
    with open(c.path("long"), "wb") as file:
        file.truncate(1 << 42)
    other = socket.socket(socket.AF_UNIX)
    other.bind(c.path("socket"))
    return ["/dev/zero", "/dev/random", c.path("pipe"), c.path("folder"), c.path("long"), c.path("socket")]


def readers(c):
    places = endless(c)
    for place in places:
        for command in ("run", "check", "statics"):
            out = [] if command == "check" else ["-o", c.path("out")]
            for use, text in USES.items():
                case = c.write("case.yaml", text.replace("FILE", place))
                result = c.run(command, case, "-q", *out, bound=BOUND)
                # A folder with no whole checkpoint is a bad start for runs only.
                may_finish = use == "start" and command == "statics"
                c.ends_well(f"{command}: {use} is {place}", result, may_finish=may_finish)
            c.ends_well(f"{command} of {place}", c.run(command, place, "-q", *out, bound=BOUND), may_finish=False)
        if place not in places[::2]:
            continue  # commands in Python: one without end, one that waits and one that is too long
        for tool in (["compare", place], ["fit", case, "--parameter=time.step=1e-5:1e-4", "--column=t", "--data"]):
            c.ends_well(f"{tool[0]} of {place}", c.run(*tool, place, bound=BOUND), may_finish=False)
    c.ends_well("list of a pipe", c.run("list", c.path("pipe"), bound=BOUND), may_finish=False)


def links(c):
    """Every file of the results, and its name while it is written, is a link to another file before."""
    bar = os.path.join(c.source, "cases", "bar_impact")
    commands = {"run": ["run", bar, "--set", "time.end=0.05", "--set", "output.checkpoint.every=20"],
                "statics": ["statics", bar], "modes": ["modes", bar, "--count", "1"]}
    for name, command in commands.items():
        c.check(c.run(*command, "-q", "-o", c.path(name)).status == 0, f"{name} fails")
        names = sorted(os.listdir(c.path(name)))
        victims = {}
        os.mkdir(c.path(name + "_linked"))
        for result in [*names, *(each + ".part" for each in names)]:
            victims[result] = c.write(f"victim_{name}_{result}", VICTIM)
            os.symlink(victims[result], c.path(name + "_linked", result))
        c.ends_well(f"{name} where links are", c.run(*command, "-q", "-o", c.path(name + "_linked")))
        for result, victim in victims.items():
            c.check(open(victim, "rb").read() == VICTIM.encode(), f"{name} has written through the link {result}")
        for result in names:
            place = c.path(name + "_linked", result)
            c.check(stat.S_ISREG(os.lstat(place).st_mode), f"{name}: {result} is still a link")


def campaign(c):
    readers(c)
    links(c)


faults.main(campaign, "30")
