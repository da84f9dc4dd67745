"""Steps whose iteration shrinks slowly, as directions of contacts turn far, are solved all the same. Argument: the
program. A mass slides inside a circle with alpha_index3, against the same equations solved in closed form."""

import math
import unittest

import program

RHO = 0.8


def case(weight, step, steps):
    return f"""mesh: {{ a: {{ type: point, at: [0, -1, 0] }} }}
elements: {{ a: {{ type: point_mass, mesh: a, mass: 1, in: plane }} }}
initial: [ {{ set: a, velocity: [1, 0, 0] }} ]
loads: {{ weight: {{ type: gravity, g: [0, {-weight!r}, 0] }} }}
contacts:
  bowl: {{ type: node_circle, nodes: a, axis: [0, 0, 1], side: inside, radius: 1, centre: [0, 0, 0], restitution: 0 }}
scheme: {{ type: alpha_index3, rho_inf: {RHO} }}
time: {{ step: {step!r}, end: {steps * step!r} }}
output: {{ frames: false, contact_frames: false, checkpoint: false, summary: false,
          probes: {{ a: {{ node: a, of: [x, y, vx, vy] }} }} }}
"""


def slide(weight, h, steps):
    """x, y, vx, vy after steps: vd = g - lam q, 0 <= 1 - |q| _|_ lam >= 0, with the averages of generalized-alpha."""
    am, af = (2.0 * RHO - 1.0) / (RHO + 1.0), RHO / (RHO + 1.0)
    ga = 0.5 + af - am
    be = 0.25 * (ga + 0.5) ** 2
    q, v, g = [0.0, -1.0], [1.0, 0.0], [0.0, -weight]
    a, vd = list(g), list(g)
    share = h * h * be * (1.0 - af) / (1.0 - am)
    rows = []
    for _ in range(steps):
        free = [q[k] + h * v[k] + h * h * ((0.5 - be) * a[k] + be * (af * vd[k] - am * a[k]) / (1.0 - am))
                + share * g[k] for k in range(2)]
        # q = free - share lam q within the circle: q = free / (1 + share lam).
        size = max(1.0, math.hypot(*free))
        lam = (size - 1.0) / share
        q = [x / size for x in free]
        now = [g[k] - lam * q[k] for k in range(2)]
        new = [((1.0 - af) * now[k] + af * vd[k] - am * a[k]) / (1.0 - am) for k in range(2)]
        v = [v[k] + h * ((1.0 - ga) * a[k] + ga * new[k]) for k in range(2)]
        a, vd = new, now
        rows.append(q + v)
    return rows


class SlowIteration(program.Cases):
    def test_mass_in_a_bowl(self):
        for weight, step in ((0.5, 0.5), (0.5, 1.2), (1.0, 1.0), (1.5, 0.9), (2.0, 0.8)):
            rows = self.history(case(weight, step, 3))[1:]
            for row, exact in zip(rows, slide(weight, step, 3), strict=True):
                for name, value in zip(("x", "y", "vx", "vy"), exact):
                    self.assertAlmostEqual(row["a." + name], value, delta=1e-11)


if __name__ == "__main__":
    unittest.main()
