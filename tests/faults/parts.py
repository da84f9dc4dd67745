"""Short cases that have every part between them: elements, contacts, joints, schemes, solvers, systems."""

import os
import re

TAIL = """
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-4, end: 3.0e-4 }
output: { contact_frames: {}, waves: { body: BODY, of: [ux, vx] }, history: { every: 1 } }
"""

GAPS = """
mesh:
  low: { type: line, from: [-0.5, 0, 0], to: [0.5, 0, 0], elements: 3 }
  high: { type: line, from: [0.1, -0.4, 0.0201], to: [0.1, 0.6, 0.0201], elements: 3 }
  shaft: { type: line, from: [2, 0, 0], to: [2, 0, 1], elements: 2 }
  house: { type: point, at: [2, 0, 0.5] }
  ball: { type: point, at: [0.3, 0.0, 0.0301] }
elements:
  low: { type: beam_exact_3d, mesh: low, E: 2.1e+9, nu: 0.3, rho: 7800, orientation: [0, 0, 1],
         section: { type: circle, diameter: 0.02 } }
  high: { type: beam_exact_3d, mesh: high, E: 2.1e+9, nu: 0.3, rho: 7800, orientation: [0, 0, 1],
          section: { type: circle, diameter: 0.02 } }
  shaft: { type: beam_exact_3d, mesh: shaft, E: 2.1e+9, nu: 0.3, rho: 7800, orientation: [1, 0, 0],
           section: { type: circle, diameter: 0.02 } }
  house: { type: rigid_body_3d, mesh: house, mass: 1, inertia: [1, 1, 1] }
  ball: { type: rigid_body_3d, mesh: ball, mass: 1, inertia: [1, 1, 1] }
supports: { clamp: { set: low.start, fix: [x, y, z, rx, ry, rz], reactions: true } }
initial:
  - { set: high, velocity: [0, 0, -1] }
  - { set: ball, velocity: [0, 0, -1] }
  - { set: shaft, velocity: [1, 0, 0] }
contacts:
  touch: { type: beam_beam, a: low, b: high, radius: 0.01, restitution: 0, friction: 0.3 }
  cell: { type: node_segment, nodes: ball, segments: low, radius: 0.01, node_radius: 0.02, restitution: 0.5,
          friction: 0.1 }
  bearing: { type: journal, nodes: middle, housing: house, axis: [0, 0, 1], radius: 0.0101, node_radius: 0.01,
             restitution: 0, friction: 0.2 }
  floor: { type: node_plane, nodes: ball, point: [0, 0, 0.02], normal: [0, 0, 1], restitution: 0.5, friction: 0.2 }
  pair: { type: node_node, a: high.start, b: ball, normal: [1, 0, 0], restitution: 0, friction: 0.1 }
  post: { type: node_circle, nodes: ball, centre: [0.3, 0.1, 0], radius: 0.05, node_radius: 0.02, side: outside,
          restitution: 0.5, friction: 0.2 }
sets: { middle: { nodes: [shaft], at: [2, 0, 0.5] } }
"""

JOINTS = """
mesh:
  arm: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 }
  leg: { type: line, from: [1, 0, 0], to: [1, 1, 0], elements: 2 }
  a: { type: point, at: [2, 0, 0] }
  b: { type: point, at: [3, 0, 0] }
  d: { type: point, at: [4, 0, 0] }
  e: { type: point, at: [5, 0, 0] }
  s: { type: link, a: a, b: e }
elements:
  arm: { type: beam_exact_3d, mesh: arm, E: 2.1e+9, nu: 0.3, rho: 7800, orientation: [0, 0, 1],
         section: { type: tube, diameter: 0.02, thickness: 0.005 } }
  leg: { type: beam_exact_3d, mesh: leg, E: 2.1e+9, nu: 0.3, rho: 7800, orientation: [0, 0, 1],
         section: { type: circle, diameter: 0.02 } }
  a: { type: rigid_body_3d, mesh: a, mass: 1, inertia: [1, 1, 1] }
  b: { type: rigid_body_3d, mesh: b, mass: 1, inertia: [1, 1, 1] }
  d: { type: rigid_body_3d, mesh: d, mass: 1, inertia: [1, 1, 1] }
  e: { type: point_mass, mesh: e, mass: 1 }
  s: { type: spring_damper, mesh: s, stiffness: 100, damper: 1 }
loads: { weight: { type: gravity, g: [0, 0, -9.81] } }
joints:
  pivot: { type: hinge, node: arm.start, axis: [0, 1, 0] }
  knee: { type: ball, a: arm.end, b: leg.start }
  weld: { type: fixed, a: leg.end, b: a, at: [1, 1, 0] }
  rail: { type: slider, a: a, b: b, axis: [1, 0, 0] }
  rod: { type: distance, a: b, b: d }
  ride: { type: rigid_link, a: d, nodes: e }
  drive: { type: prescribed, node: d, along: z, distance: 0.1, rise: 0.01 }
"""

MACHINES = """
mesh:
  one: { type: point, at: [0, 0, 0] }
  two: { type: point, at: [1, 0.5, 0.2] }
  three: { type: point, at: [2, 0, 0] }
  coin: { type: point, at: [3, 0, 0.1] }
  s: { type: link, a: three, b: coin }
elements:
  one: { type: rigid_body_3d, mesh: one, mass: 1, inertia: [1, 1, 1] }
  two: { type: rigid_body_3d, mesh: two, mass: 1, inertia: [1, 1, 1] }
  three: { type: rigid_body_3d, mesh: three, mass: 1, inertia: [1, 1, 1] }
  coin: { type: rigid_body_3d, mesh: coin, mass: 1, inertia: [1, 1, 1] }
  s: { type: spring_damper, mesh: s, polynomial: [100, 10], clearance: 1.0e-4, stop: 0.5,
       stop_stiffness: 1.0e+4, damper: 1, damper_exponent: 1.5 }
loads: { weight: { type: gravity, g: [0, 0, -9.81] } }
joints:
  sleeve: { type: cylindrical, node: one, axis: [1, 0, 0] }
  thread: { type: screw, a: one, b: two, axis: [1, 0.5, 0.2], pitch: -0.3 }
  cross: { type: universal, a: one, b: three, at: [0.9, 0, 0.1], axis_a: [0, 1, 2], axis_b: [1, 2, -1] }
  teeth: { type: gear, a: two, b: three, teeth_a: 30, teeth_b: 20, axis_a: [1, 0.5, 0.2], axis_b: [1, 0, 0] }
contacts:
  edge: { type: disc_plane, nodes: coin, axis: [1, 0, 0.2], radius: 0.1, width: 0.01, point: [0, 0, 0],
          normal: [0, 0, 1], restitution: 0.2, friction: 0.3 }
  feet: { type: node_plane, nodes: two, offsets: [[0.1, 0, -0.1], [-0.1, 0, -0.1]], point: [0, 0, 0.05],
          normal: [0, 0, 1], friction: 0.3, law: { type: hunt_crossley, stiffness: 1.0e+5, damping: 0.1 } }
"""

MATERIALS = """
mesh:
  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 }
  b: { type: line, from: [1.0001, 0, 0], to: [2, 0, 0], elements: 4 }
  c: { type: line, from: [2, 0, 0], to: [3, 0, 0], elements: 4 }
merge: { joint: { sets: [b.end, c.start] } }
elements:
  a: { type: rod_plastic, mesh: a, E: 1.0e+6, rho: 1000, area: { from: 1.0e-3, to: 2.0e-3 }, yield_stress: 1.0e+3 }
  b: { type: rod_viscoelastic, mesh: b, E: 1.0e+6, rho: 1000, area: 1.0e-3, relaxed_modulus: 5.0e+5,
       relaxation_time: 1.0e-3 }
  c: { type: rod_love, mesh: c, E: 1.0e+6, rho: 1000, nu: 0.3, area: { steps: [[0, 1.0e-3], [0.3, 2.0e-3]] } }
initial: [ { set: a, velocity: [1 + x, 0, 0] } ]
joints:
  drive: { type: prescribed, node: c.end, along: x, velocity: { pulse: { duration: 1.0e-3, shape: half_sine } } }
contacts:
  meet: { type: node_node, a: b.start, b: a.end, normal: [1, 0, 0], law: { type: hertz, stiffness: 1.0e+6 } }
"""

PLANE = """
mesh:
  arm: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 }
  bars: { type: frame, points: { A: [0, 2, 0], B: [1, 2, 0], C: [0, 3, 0] }, members: [ [A, B], [B, C], [C, A] ],
          elements: 1 }
  body: { type: point, at: [2, 0, 0] }
elements:
  arm: { type: beam_exact_2d, mesh: arm, E: 2.1e+9, nu: 0.3, rho: 7800,
         section: { type: I, height: 0.1, width: 0.05, web: 0.01, flange: 0.01 } }
  bars: { type: rod_large_2d, mesh: bars, E: 1.0e+6, rho: 1000, area: 1.0e-4 }
  body: { type: rigid_body_2d, mesh: body, mass: 1, inertia: 1 }
supports: { clamp: { set: arm.start, fix: [x, y, rz] } }
loads: { weight: { type: gravity, g: [0, -9.81, 0] } }
contacts: { floor: { type: node_plane, nodes: arm.end, point: [0, -1.0e-8, 0], normal: [0, 1, 0], restitution: 0 } }
"""

BAR = """
mesh: { bar: { type: line, from: [1.0e-3, 0, 0], to: [1.001, 0, 0], elements: 10 } }
elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }
initial: [ { set: bar, velocity: [-1, 0, 0] } ]
contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 } }
scheme: { type: wave }
time: { step: auto, end: 1.0 }
"""
BALL = "system: { type: ball, mass: 1, radius: 0.2, gravity: 10, height: 0.21, restitution: 0.8 }\n"
OPTIONS = {"moreau_jean": "theta: 0.5", "newmark": "gamma: 0.5", "hht": "alpha: 0.1", "jump_newmark": "gamma: 0.5",
           "alpha_ggl": "rho_inf: 0.8", "alpha_velocity": "rho_inf: 0.8", "alpha_index3": "rho_inf: 0.8",
           "ggl_midpoint": "metric: mass", "splitting": "contact_forces: true"}


def texts():
    yield "gaps", GAPS + TAIL.replace("BODY", "low")
    yield "joints", JOINTS + TAIL.replace("BODY", "arm")
    yield "machines", MACHINES + TAIL.replace("waves: { body: BODY, of: [ux, vx] }, ", "")
    yield "materials", MATERIALS + TAIL.replace("BODY", "a")
    yield "plane", PLANE + TAIL.replace("BODY", "arm")
    registry = os.path.join(os.path.dirname(__file__), "..", "..", "src", "schemes", "scheme_list.def")
    for scheme in re.findall(r"PCS_SCHEME\((\w+)\)", open(registry).read()):
        if scheme == "wave":  # it wants a body with waves
            yield f"scheme {scheme}", BAR
            continue
        options = ", " + OPTIONS[scheme] if scheme in OPTIONS else ""
        yield f"scheme {scheme}", BALL + f"scheme: {{ type: {scheme}{options} }}\ntime: {{ step: 1.0e-2, end: 0.1 }}\n"


def commands(c):
    """Name and command line of each; results go to `out`."""
    out = ["-o", c.path("out"), "--quiet"]
    for name, text in texts():
        yield name, ["run", c.write(name.replace(" ", "_") + ".yaml", text), *out]
    bar = os.path.join(c.source, "cases", "bar_impact")
    for solver in ("condensed", "newton", "schur"):
        yield f"solver {solver}", ["run", bar, "--set", "time.end=0.01", "--set", f"solver.type={solver}", *out]
    for linear in ("dense", "chain", "cholmod", "umfpack"):
        yield f"linear {linear}", ["run", bar, "--set", "time.end=0.01", "--set", f"solver.linear={linear}", *out]
    for folder in sorted(os.listdir(os.path.join(c.source, "cases"))):
        case = os.path.join(c.source, "cases", folder)
        step = re.search(r"step: ([-+.e\d]+)", open(os.path.join(case, "case.yaml")).read())
        end = ["--set", f"time.end={3.0 * float(step.group(1))!r}"] if step else []
        yield f"case {folder}", ["run", case, *end, *out]
    for name in ("elements_large", "elements_linear"):
        yield name, ["run", os.path.join(c.source, "tests", "contract", name + ".yaml"), "--set", "time.end=3e-4", *out]
    yield "statics", ["statics", os.path.join(c.source, "cases", "beam_pendulum"), "-o", c.path("out")]
    yield "modes", ["modes", os.path.join(c.source, "cases", "rotor"), "-o", c.path("out")]
