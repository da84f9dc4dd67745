"""Does every step converge? Models with impacts under many meshes, steps, schemes and coefficients of friction: how
many runs stop, how many iterations a step takes, how often it was cut or handed to another solver.

    /usr/bin/python3 tests/study/settling.py build/percuss [options] [GROUP]     from the project's folder

GROUP takes only groups whose name holds this text. Columns: runs, those that stopped, those that ended with a result
they cannot have, steps, steps with an impact, steps cut, steps handed on, iterations per step (of all steps, of those
without and with an impact, the largest), the largest rise of energy in one step beyond external work over the largest
kinetic energy of the run before, and seconds of the processor. A run stops when its simulation cannot be built or
cannot go on, breaks its certificate, crashes, or takes longer than it may; it is wrong when in one step energy rises by
more than all kinetic energy that there was, or when its result contradicts a closed form. Status 1 when a run stopped
or is wrong."""

import argparse
import itertools
import math
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
from multiprocessing import connection

HERE = os.path.dirname(os.path.abspath(__file__))
GRAVITY = 9.81
BEGINNING = 0.05  # share of a run in which there may be too little motion to compare a rise of energy with

# Axes: labels and assignments, as of --set, separated by ';'


def axis(pattern, *values):
    """An axis of values put into the label and the assignments, which are separated by '|'."""
    return [tuple(part.replace("@", str(value)) for part in pattern.split("|")) for value in values]


def steps(*sizes):
    return axis("h=@|time.step=@", *sizes)


def cells(mesh, *counts):
    return axis(f"N=@|mesh.{mesh}.elements=@", *counts)


def friction(contact, *values):
    return axis(f"mu=@|contacts.{contact}.friction=@", *values)


def restitution(contact, *values):
    return axis(f"e=@|contacts.{contact}.restitution=@", *values)


def system_friction(*values):
    return axis("mu=@|system.friction=@", *values)


def schemes(*names):
    """Schemes by their short names, or by what stands in the case."""
    return [(name, f"scheme={{type: {SHORT.get(name, name)}}}") for name in names]


def always(assignments):
    return [("", assignments)]


SHORT = {"ggl.65": "alpha_ggl, rho_inf: 0.65", "ggl.8": "alpha_ggl, rho_inf: 0.8", "ggl1": "alpha_ggl, rho_inf: 1.0",
         "velocity.65": "alpha_velocity, rho_inf: 0.65", "velocity.8": "alpha_velocity, rho_inf: 0.8",
         "velocity1": "alpha_velocity, rho_inf: 1.0", "newmark.5": "newmark, gamma: 0.5",
         "newmark.6": "newmark, gamma: 0.6", "moreau.5": "moreau_jean, theta: 0.5",
         "moreau.55": "moreau_jean, theta: 0.55", "moreau.606": "moreau_jean, rho_inf: 0.65",
         "moreau1": "moreau_jean, theta: 1.0", "jump.8": "jump_newmark, rho_inf: 0.8",
         "unified": "ggl_midpoint, coupling: unified", "unified mass": "ggl_midpoint, coupling: unified, metric: mass"}
ELASTIC = schemes("ggl.65", "ggl.8", "velocity.65", "newmark.5", "newmark.6", "moreau.606", "moreau1")
SPACE = schemes("ggl.8", "velocity.8", "newmark.5", "moreau.5", "moreau1", "half_explicit")  # of finite rotations
RIGID = SPACE + schemes("jump.8")
MESH_FRICTION = schemes(
    "alpha_ggl", "moreau_jean, theta: 0.5", "moreau_jean, theta: 0.6, positions: midpoint", "newmark, gamma: 0.6",
    "hht", "alpha_velocity", "jump_newmark, rho_inf: 0.8", "half_explicit", "half_explicit_rk, method: hem3",
    "half_explicit_rk, method: hem5", "moreau_jean_explicit", "moreau_midpoint", "schatzman_paoli",
    "ggl_midpoint, metric: mass, coupling: decoupled", "ggl_midpoint, metric: mass")
ALL_FRICTION = MESH_FRICTION + schemes("splitting")
SOLVERS = axis("@|solver.type=@", "auto", "newton", "schur")

# Beams that swing against stops. cases/beam_pendulum falls from the horizontal and meets its stop with 1 m/s to 5 m/s;
# what follows is a burst of impacts within 20 ms. The wall of the case stands upright; a stop that is square to the
# beam passes through the pivot.

PENDULUM = "cases/beam_pendulum"
SPUN = "tests/study/settling/spun_beam.yaml"
HELD = "joints={};supports={pivot: {set: beam.start, fix: [x, y]}};"  # the pivot by its equations instead of a hinge
FEWER = [cells("beam", 4, 10, 16, 32, 64), steps(1e-3, 5e-4, 2e-4, 1e-4), ELASTIC]
GRID = [cells("beam", 4, 8, 10, 16, 20, 23, 32, 40, 64), steps(1e-3, 5e-4, 2e-4, 1e-4, 5e-5), ELASTIC]
HURDLE = friction("hurdle", 0.0, 0.2, 0.8)


def wall(angle, end):
    """A wall at x = cos(angle), or a stop that is square to the beam at that angle below the horizontal."""
    return f"wall{angle}", f"contacts.hurdle.point=[{math.cos(math.radians(angle))!r}, 0, 0];time.end={end}"


def square(angle, end):
    s, c = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    normal = f"contacts.hurdle.normal=[{s!r}, {c!r}, 0]"
    return f"square{angle}", f"contacts.hurdle.point=[0, 0, 0];{normal};time.end={end}"


STOPS = [wall(30, 0.36), wall(60, 0.45), wall(80, 0.51), square(30, 0.36), square(45, 0.4), square(60, 0.45),
         square(80, 0.51)]
# Tip and middle on one plane, all nodes on it, or the tip in the corner of wall and floor.
TWO_STOPS = [
    ("pads", HELD + "sets={pads: {nodes: beam, at: [[0.5, 0, 0], [1, 0, 0]]}};contacts.hurdle.nodes=pads;"
     "contacts.hurdle.point=[0, 0, 0];contacts.hurdle.normal=[1, 1, 0];time.end=0.4"),
    ("table", HELD + "contacts.hurdle.nodes=beam.rest;contacts.hurdle.point=[0, 0, 0];contacts.hurdle.normal=[1, 1, 0];"
     "time.end=0.4"),
    ("corner", HELD + "contacts.floor={type: node_plane, nodes: beam.end, point: [0, -0.7, 0], normal: [0, 1, 0], "
     "restitution: 0.5, friction: 0.2};time.end=0.4")]
# Out of the plane: weight with a part across, a stop that leans.
SPATIAL = ("elements.beam.type=beam_exact_3d;elements.beam.orientation=[0, 1, 0];loads.weight.g=[0, -9.81, 1.5];"
           "contacts.hurdle.normal=[1, 0, 0.4];time.end=0.4;")
PIVOTS = [("hinge", SPATIAL + "joints.pivot.axis=[0, 0, 1]"), ("ball", SPATIAL + "joints.pivot.type=ball"),
          ("support", SPATIAL + "joints={};supports={pivot: {set: beam.start, fix: [x, y, z]}}")]
DOUBLE = [axis("N=@|mesh.upper.elements=@;mesh.lower.elements=@", 4, 8, 16, 32), steps(1e-3, 4e-4, 2e-4, 1e-4), ELASTIC,
          friction("stop", 0.0, 0.3)]
# Steps that do not resolve a beam that turns fast, free or against a wall, with and without dissipation.
SPUN_SPACE = schemes("ggl1", "ggl.8", "velocity1", "moreau.5", "moreau.55", "newmark.5")
SPUN_ENDS = [steps(1e-2, 3e-3, 1e-3),
             [("free", ""), ("wall", "contacts.wall.point=[0, -0.9, 0];contacts.wall.normal=[0, 1, 0]")]]
PENDULUMS = [
    ("pendulum hinge", PENDULUM, [always("time.end=0.4"), *GRID, HURDLE]),
    ("pendulum support", PENDULUM, [always(HELD + "time.end=0.4"), *GRID, HURDLE]),
    ("pendulum angles", PENDULUM, [STOPS, *FEWER, HURDLE]),
    ("pendulum two stops", PENDULUM, [TWO_STOPS, *FEWER, HURDLE]),
    ("pendulum rebound", PENDULUM, [always("time.end=0.4"), *FEWER, HURDLE, restitution("hurdle", 0.0, 0.5, 1.0)]),
    ("pendulum space", PENDULUM, [PIVOTS, *FEWER, HURDLE]),
    ("double pendulum", "cases/double_pendulum_stop",
     [always("time.end=0.6"), *DOUBLE, restitution("stop", 0.0, 0.5, 1.0)]),
    ("spun beam", SPUN, [cells("beam", 4, 20), *SPUN_ENDS, SPUN_SPACE + schemes("jump.8", "unified mass")]),
    ("spun beam space", SPUN,
     [always("elements.beam.type=beam_exact_3d;elements.beam.orientation=[0, 1, 0];joints.pivot.axis=[0, 0, 1];"
             "loads.weight.g=[0, -9.81, 1.5];time.end=0.2"), cells("beam", 4, 8), *SPUN_ENDS, SPUN_SPACE])]

# Rigid bodies, mechanisms, ropes. Judges get the simulation, a dictionary of their own, and whether the run has ended;
# they say what is wrong with it.


def near(what, actual, expected, tolerance):
    if abs(actual - expected) > tolerance:
        return f"{what} is {actual:.6g}, expected {expected:.6g}, allowed {tolerance:.1g}"
    return ""


def judge_ladder(sim, notes, is_done):
    """Where the ladder leaves the wall, and how fast it slides then: both are known (ladder.yaml)."""
    mass, inertia, high = 10.002, 10.0 / 3.0 + 0.002, math.sqrt(0.75)
    probes = list(sim.probes.values())
    if next(iter(sim.contacts.values())).step_impulse > 0.0:
        notes["height"] = probes[1]
    if not is_done:
        return ""
    speed = math.sqrt(8.0 / 27.0 * mass * GRAVITY * high**3 / (mass + inertia))
    return (near("height at which the ladder leaves the wall", notes["height"], 2.0 / 3.0 * high, 0.03)
            or near("speed of the ladder", probes[2], speed, 0.01 * speed))


def judge_ball(sim, _notes, is_done):
    """The ball rolls at the end (ball.yaml), and does not turn about the normal."""
    probes = list(sim.probes.values())
    return is_done and (near("vx of the ball", probes[3], 2.2 / 1.4, 0.01)
                        or near("vy of the ball", probes[4], -0.3 / 1.4, 0.01)
                        or near("spin about the normal", probes[7], 0.0, 1e-3))


def judge_capstan(sim, notes, is_done):
    """Rope or chain over a drum, 0.1 kg against 0.3 kg: how far it has gone, the mean of its ends, as a light rope
    after Euler and Eytelwein."""
    light, heavy, t, probes = 0.1, 0.3, sim.time, list(sim.probes.values())
    drop = 0.5 * (probes[2] - probes[0])
    first = notes.setdefault("drop", drop)
    gain = math.exp(math.pi * next(iter(sim.contacts.values())).friction)
    a = GRAVITY * max(0.0, heavy - light * gain) / (heavy + light * gain)
    return is_done and near("way of the rope", drop - first, 0.5 * a * t * t, 0.05 * 0.5 * GRAVITY * t * t)


def settling(name):
    return f"tests/study/settling/{name}.yaml"


BODY_STEPS = steps(2e-3, 1e-3, 5e-4, 2e-4)
FLOOR = friction("floor", 0.0, 0.2, 0.4, 0.8)
BIRD_STEPS = steps(2e-4, 1e-4, 5e-5, 2e-5)
FOUR_BAR = [("g=0", "loads.weight.g=[0, 0, 0]"), ("g=9.81", "loads.weight.g=[0, -9.81, 0]"),
            ("g=20", "loads.weight.g=[3, -20, 0]")]
DRUM = friction("drum", 0.0, 0.1, 0.2, 0.8)
ROPES = [(f"N={n}", f"mesh.left.elements={left};mesh.over.elements={n};mesh.right.elements={right}")
         for n, left, right in ((8, 8, 13), (16, 15, 25), (30, 28, 48))]
# Angles of the crank at the start, in turns.
TURNS = [(f"turns={n}", f"system.theta1={2.0 * math.pi * n!r}") for n in (0, 45, 1000, 1e5)]
CRANK = schemes("ggl.8", "moreau.5", "jump.8", "unified", "velocity.8", "newmark.5", "half_explicit")
CRANK_STEPS = steps(5e-4, 1e-4, 2e-5)
BODIES = [
    ("ladder", settling("ladder"), [BODY_STEPS, RIGID, SOLVERS], judge_ladder),
    ("box", settling("box"), [BODY_STEPS, SPACE, FLOOR, restitution("floor", 0.0, 0.5, 1.0), SOLVERS]),
    ("ball", settling("ball"), [BODY_STEPS, SPACE, friction("floor", 0.1, 0.2, 0.8)], judge_ball),
    ("rocking block", "cases/rocking_block",
     [steps(1e-2, 2e-3, 5e-4), RIGID, system_friction(0.0, 0.2, 0.8), axis("points=@|system.points=@", 2, 9)]),
    ("woodpecker", settling("woodpecker_bodies"),
     [BIRD_STEPS, RIGID, axis("mu=@|contacts.beak.friction=@;contacts.edges.friction=@", 0.2, 0.3, 0.4), SOLVERS]),
    ("four-bar", settling("four_bar"), [steps(4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1e-4), RIGID, FOUR_BAR, SOLVERS]),
    ("rope", settling("capstan"),
     [ROPES, steps(1e-3, 5e-4, 2e-4), schemes("ggl.8", "velocity.8", "newmark.6", "moreau.606", "moreau1"), DRUM,
      SOLVERS], judge_capstan),
    *((f"chain of {n}", f"make_chain.py {n}", [steps(1e-3, 5e-4, 2e-4), RIGID, DRUM, SOLVERS], judge_capstan)
      for n in (6, 12, 18)),
    ("slider-crank", "cases/slider_crank", [TURNS, CRANK_STEPS, CRANK, system_friction(0.0, 0.01, 0.1)]),
    ("slider-crank joint", "cases/slider_crank_bilateral", [TURNS, CRANK_STEPS, CRANK]),
    ("slider-crank far", "cases/slider_crank_bilateral", [always("time.end=42"), steps(1e-4, 5e-5), CRANK])]

# Structures of many beams, and the rotor. Linear beams are for small rotations: their runs end before the bodies have
# turned. Explicit schemes of the rotor need 5e-6 s.

NET_FRICTION = friction("floor", 0.0, 0.3, 0.8)
PLANE_STRUTS = [("exact", "elements.struts.type=beam_exact_2d"),
                ("timo", "elements.struts.type=beam_timo_2d;time.end=0.02")]
SPACE_STRUTS = [("timo", "elements.struts.type=beam_timo_3d"), ("exact", "elements.struts.type=beam_exact_3d")]
PORTALS = [("exact", "elements.arch.type=beam_exact_2d;elements.straight.type=beam_exact_2d"),
           ("timo", "elements.arch.type=beam_timo_2d;elements.straight.type=beam_timo_2d;time.end=0.05")]
ROTOR = [(f"{name} {h}", f"scheme={{type: {SHORT.get(name, name)}}};time.step={h}") for name, h in (
    ("half_explicit", 5e-6), ("moreau_midpoint", 5e-6), ("ggl.8", 5e-6), ("ggl.8", 2e-5), ("ggl.8", 1e-4),
    ("velocity.8", 2e-5), ("velocity.8", 1e-4), ("newmark.6", 2e-5), ("newmark.6", 1e-4), ("moreau1", 2e-5),
    ("moreau.5", 2e-5), ("moreau1", 1e-4))]
CROSSED = [("N=9", "mesh.low.elements=9;mesh.high.elements=8"), ("N=20", "mesh.low.elements=20;mesh.high.elements=21")]
STRUCTURES = [
    ("lattice", settling("lattice"),
     [PLANE_STRUTS, cells("net", 1, 4), steps(2e-4, 1e-4, 2e-5), ELASTIC, NET_FRICTION, SOLVERS]),
    ("lattice space", settling("lattice_space"),
     [SPACE_STRUTS, steps(2e-4, 1e-4, 2e-5), ELASTIC, NET_FRICTION, SOLVERS]),
    ("portal", settling("portal"), [PORTALS, steps(2e-3, 1e-3, 5e-4, 1e-4), ELASTIC, NET_FRICTION, SOLVERS]),
    ("crossed beams", "cases/beams_crossed",
     [CROSSED, steps(1e-3, 5e-4, 1e-4), ELASTIC, friction("touch", 0.0, 0.2, 0.8),
      restitution("touch", 0.0, 0.5, 1.0)]),
    ("rotor", "cases/rotor",
     [always("time.end=0.03"), ROTOR, friction("rub", 0.01, 0.2, 0.8), restitution("rub", 0.0, 0.5)]),
    *((f"crib of {width}x{layers}", f"make_pile.py {width} {layers} 0.0001",
       [always("time.end=0.3"), steps(2e-3, 1e-3, 2e-4),
        schemes("ggl.8", "velocity.8", "newmark.6", "moreau.5", "moreau1"), solvers])
      for width, layers, solvers in ((4, 3, SOLVERS), (7, 4, axis("@|solver.type=@", "auto", "schur"))))]

# Every scheme that takes friction, over coefficients, restitutions, steps. A run whose friction is not against its slip
# stops by its certificate.

REBOUNDS = [(f"e={e} {t}", f"system.restitution={e};system.tangent_restitution={t}")
            for e, t in ((0.0, 0.0), (0.5, 0.5), (1.0, 0.0))]
WIDE = system_friction(0.05, 0.3, 0.8, 2.0)
COINS = [(f"a={a} {width}", f"contacts.floor.radius={a};contacts.floor.width={width}")
         for a, width in ((0.05, 0.0), (0.05, 0.004), (0.02, 0.01))]
FRICTION = [
    ("friction incline", "cases/incline",
     [always("time.end=1"), steps(1e-3, 1e-2, 5e-2), ALL_FRICTION, WIDE,
      [("slides", "system.height=0.0"),
       ("falls", "system.height=0.1;system.restitution=0.6;system.tangent_restitution=0.5")]]),
    ("friction puck", "cases/puck", [always("time.end=1;system.vx=-1.0"), steps(1e-3, 1e-2, 5e-2), ALL_FRICTION, WIDE]),
    ("friction stick-slip", "cases/stick_slip",
     [steps(1e-3, 1e-2, 5e-2), ALL_FRICTION, system_friction(0.05, 0.2, 0.3)]),
    ("friction ball", "cases/spinning_ball",
     [always("system.spin=10.0;system.gravity=9.81"), steps(3e-4, 3e-3, 3e-2), ALL_FRICTION, WIDE, REBOUNDS]),
    ("friction block", "cases/rocking_block",
     [always("time.end=1"), steps(5e-4, 2e-3, 1e-2), MESH_FRICTION, WIDE, REBOUNDS,
      axis("points=@|system.points=@", 2, 3, 9)]),
    ("friction crank", "cases/slider_crank", [always("time.end=0.03"), steps(1e-5, 1e-4, 5e-4), MESH_FRICTION, WIDE]),
    ("friction ring", settling("ring"),
     [steps(1e-4, 1e-3, 1e-2), MESH_FRICTION, friction("ring", 0.05, 0.3, 0.8, 2.0),
      restitution("ring", 0.0, 0.5, 1.0), SOLVERS]),
    ("friction coin", settling("coin"),
     [steps(1e-4, 3e-4, 1e-3), SPACE, friction("floor", 0.05, 0.3, 0.8, 2.0), restitution("floor", 0.0, 0.5, 1.0),
      SOLVERS]),
    ("coin flat", settling("coin"),  # until it lies flat
     [always("time.end=1;mesh.coin.at=[0, 0, 0.06]"), steps(1e-4, 1e-3, 5e-3, 1e-2),
      schemes("ggl.8", "velocity.8", "newmark.5", "newmark.6", "hht", "moreau.5", "moreau1", "half_explicit",
              "moreau_jean_explicit"), friction("floor", 0.0, 0.2, 0.5, 1.0), restitution("floor", 0.0, 0.5, 0.8),
      COINS, SOLVERS])]
GROUPS = PENDULUMS + BODIES + STRUCTURES + FRICTION

# One run

SUMS = "runs", "stopped", "wrong", "steps", "impacts", "cut", "handed", "iterations", "impact_iterations", "seconds"


def follow(sim, judge, seconds, result):
    """Makes all steps; fills the result as it goes. Returns what is wrong."""
    notes, before, so_far = {}, None, 0

    def energies():
        e = sim.energy
        return e.kinetic + e.strain + e.potential, max(e.kinetic, 1e-6 * (e.strain + abs(e.potential))), e.external_work

    energy, scale, work = energies()
    wrong = judge(sim, notes, False) or "" if judge else ""
    for number in sim:
        effort, (after, now, done) = sim.effort, energies()
        iterations, so_far = effort["iterations"] - so_far, effort["iterations"]
        rise, larger = after - energy - (done - work), max(scale, now)
        if scale < 1e-12 * larger and rise <= abs(done - work):
            result["rise"] = 0.0  # what stuck so far had a kinetic energy of round-off: loads set it in motion
        elif before is not None and before > BEGINNING * sim.end_time and scale > 0.0:
            result["rise"] = max(result["rise"], rise / scale)
        before, energy, scale, work = sim.time, after, larger, done
        is_impact = any(c.is_impact for c in sim.contacts.values() if not c.is_joint)
        result.update(steps=number, iterations=so_far, t=sim.time, cut=effort["cut_steps"], handed=effort["handovers"],
                      worst=max(result["worst"], iterations))
        result["impacts"] += is_impact
        result["impact_iterations"] += iterations * is_impact
        if resource.getrusage(resource.RUSAGE_SELF).ru_utime > seconds:
            raise RuntimeError("took too long")
        if judge:
            wrong = judge(sim, notes, sim.is_done) or wrong
    if result["rise"] > 1.0:
        wrong = wrong or f"energy rose in one step by {result['rise']:.3g} of the kinetic energy"
    return wrong


def run(pipe, path, assignments, judge, seconds):
    """Makes a run in a process of its own and sends its result; the system kills what hangs within a step."""
    import percuss

    resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result = dict.fromkeys(SUMS, 0) | {"runs": 1, "worst": 0, "rise": 0.0, "t": 0.0, "message": ""}
    try:
        sim = percuss.load(path, set=dict(part.split("=", 1) for part in assignments.split(";") if part))
        result["message"] = follow(sim, judge, seconds, result)
        result["wrong"] = result["message"] != ""
    except Exception as error:
        result.update(stopped=1, message=str(error))
    result["seconds"] = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    pipe.send(result)


def collect(running):
    """Yields the name and the result of every run that has ended."""
    for pipe in connection.wait(running):
        name, process = running.pop(pipe)
        try:
            result = pipe.recv()
        except EOFError:
            process.join()
            reason = "took too long, within one step" if process.exitcode == -signal.SIGXCPU else "crashed"
            result = dict.fromkeys(SUMS, 0) | {"runs": 1, "stopped": 1, "worst": 0, "rise": 0.0, "t": 0.0,
                                               "message": f"{reason} (status {process.exitcode})"}
        process.join()
        yield name, result


# Campaign


def chosen(axes, most, label):
    """The combinations that are run: all, or about `most` spread so that every value has its turn."""
    everything = list(itertools.product(*axes))
    stride = -(-len(everything) // most) if 0 < most < len(everything) else 1
    while stride > 1 and math.gcd(stride, len(everything)) > 1:
        stride += 1
    return [values for values in everything[::stride] if label is None or label in (name for name, _ in values)]


def show(name, results):
    """Prints the row of a group."""
    sums = {key: sum(one[key] for one in results) for key in SUMS}
    worst, rise = (max((one[key] for one in results), default=0) for key in ("worst", "rise"))
    impacts, free = max(1, sums["impacts"]), max(1, sums["steps"] - sums["impacts"])
    print(f"{name:22} {sums['runs']:5} {sums['stopped']:8} {sums['wrong']:6} {sums['steps']:9} {sums['impacts']:8} "
          f"{sums['cut']:6} {sums['handed']:9} {sums['iterations'] / max(1, sums['steps']):7.2f} "
          f"{(sums['iterations'] - sums['impact_iterations']) / free:7.2f} {sums['impact_iterations'] / impacts:7.2f} "
          f"{worst:6} {rise:8.1e} {sums['seconds']:8.1f}", flush=True)


def campaign(name, path, axes, judge, options, folder):
    """Runs a group and returns its results by name."""
    if path.endswith((".yaml",)) or os.path.isdir(path):
        case = path
    else:
        case = os.path.join(folder, name.replace(" ", "_") + ".yaml")
        with open(case, "w") as file:
            subprocess.run([sys.executable, os.path.join(HERE, path.split()[0]), *path.split()[1:]], stdout=file,
                           check=True)
    results, running, fork = {}, {}, multiprocessing.get_context("fork")
    for values in chosen(axes, 20 if options.quick else 0, options.with_label):
        if len(running) == len(os.sched_getaffinity(0)):
            results.update(collect(running))
        given = ";".join(["solver.threads=1", *(text for _, text in values)])
        ours, theirs = fork.Pipe(False)
        process = fork.Process(target=run, args=(theirs, case, given, judge, options.seconds))
        process.start()
        theirs.close()
        running[ours] = f"{name}: " + " ".join(label for label, _ in values if label), process
    while running:
        results.update(collect(running))
    return results


def main():
    parser = argparse.ArgumentParser(description="Does every step converge?")
    parser.add_argument("program")
    parser.add_argument("group", nargs="?", default="", help="only groups whose name holds this text")
    parser.add_argument("--quick", action="store_true", help="some twenty runs of each group, spread over it")
    parser.add_argument("--with", dest="with_label", metavar="LABEL", help="only runs with this value, as h=0.001")
    parser.add_argument("--each", action="store_true", help="a line for each run")
    parser.add_argument("--seconds", type=int, default=0, help="of the processor for each run (60, quick 15)")
    options = parser.parse_intermixed_args()
    options.seconds = options.seconds or (15 if options.quick else 60)
    os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(os.path.abspath(options.program)), "libpercuss.so.0")
    sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
    head = ("runs", 5), ("stopped", 8), ("wrong", 6), ("steps", 9), ("impacts", 8), ("cut", 6), ("handed on", 9)
    head += ("it/step", 7), ("free", 7), ("impact", 7), ("worst", 6), ("rise", 8), ("s", 8)
    print(f"{'group':22}", *(f"{name:>{width}}" for name, width in head))
    everything = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, path, axes, *judge in GROUPS:
            if options.group in name:
                results = campaign(name, path, axes, judge[0] if judge else None, options, folder)
                show(name, results.values())
                everything.update(results)
    show("all", everything.values())
    bad = {name: one for name, one in everything.items() if one["message"]}
    for name, one in (everything if options.each else bad).items():
        print(f"{name}{' WRONG' if one['wrong'] else ''} at {one['t']:.6g} s, {one['steps']} steps: {one['message']}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
