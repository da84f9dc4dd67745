"""Order conditions of the half-explicit Runge-Kutta methods for constrained mechanical systems.

q' = v, v' = F(q, v) + B(q) lam, G(q) v = 0 (index 2). The stages obey Y_i = y + h sum_j a_ij k_j and G(Q_i) V_i = 0
for i = 2 ... s + 1, the last row being b. Expanding both sides gives a condition for every rooted tree of three kinds
of nodes (Hairer, Lubich, Roche; Brasey, Hairer 1993), with w the inverse of (a_i+1,j):

  phi_j(q leaf) = 1,   phi_j([V]_q) = Y_j(V),   Y_i(t) = sum_j a_ij phi_j(t)
  phi_j([Q.. V..]_v) = prod Y_j,   phi_j([Q.. L]_v) = prod Y_j phi_j(L),   phi_j([Q.. V]_lam) = sum_i w_ji prod Y_i+1

and sum_j b_j phi_j(t) must be what the same recursion gives with integrals for sums and d/dt for w.
"""
import re
import sys
from fractions import Fraction
from functools import lru_cache
from pathlib import Path


def multisets(trees, order):
    """All multisets of trees, by their order, that add up to an order."""
    def rest(left, largest, count):
        if left == 0:
            yield ()
        for o in range(min(left, largest), 0, -1):
            few = trees(o) if o < largest else trees(o)[:count]
            for i, tree in enumerate(few):
                for others in rest(left - o, o, i + 1):
                    yield (tree,) + others
    return list(rest(order, order, 10**9))


@lru_cache(None)
def q_trees(order):
    return (("q", (), ()),) if order == 1 else tuple(("q", (t,), ()) for t in v_trees(order - 1))


@lru_cache(None)
def smooth_trees(order):
    return tuple(("v", q + v, ()) for k in range(order)
                 for q in multisets(q_trees, k) for v in multisets(v_trees, order - 1 - k))


def pushed_trees(order, largest):
    return tuple(("v", q, (m,)) for r in range(1, largest + 1)
                 for m in multiplier_trees(r) for q in multisets(q_trees, order - 1 - r))


@lru_cache(None)
def v_trees(order):
    return smooth_trees(order) + pushed_trees(order, order - 1)


@lru_cache(None)
def multiplier_trees(order):
    """Of one order less than their branches; a lone velocity branch that is itself a push cancels."""
    total, out = order + 1, []
    out += [("m", q, ()) for q in multisets(q_trees, total)]
    for k in range(1, total):
        out += [("m", q + (v,), ()) for q in multisets(q_trees, k) for v in v_trees(total - k)]
    out += [("m", (v,), ()) for v in smooth_trees(total) + pushed_trees(total, total - 2)]
    return tuple(out)


@lru_cache(None)
def exact(tree):
    """Factor and power of phi(t) of the exact solution."""
    kind, branches, multipliers = tree
    factor, power = Fraction(1), 0
    for branch in branches:
        f, p = exact(branch)
        factor, power = factor * f / (p + 1), power + p + 1
    for m in multipliers:
        f, p = exact(m)
        factor, power = factor * f, power + p
    return (factor * power, power - 1) if kind == "m" else (factor, power)


class Method:
    def __init__(self, rows):
        self.rows, self.s, self.known = rows, len(rows[0]), {}

    def undo(self, value):
        """w value, by substitution: rows[i + 1] is lower triangular."""
        out = []
        for i in range(self.s):
            row = self.rows[i + 1]
            out.append((value[i + 1] - sum(row[j] * out[j] for j in range(i))) / row[i])
        return out

    def stages(self, tree):
        """Y_i of a tree, i = 1 ... s + 1."""
        if tree not in self.known:
            phi = self.phi(tree)
            self.known[tree] = [sum(a * p for a, p in zip(row, phi)) for row in self.rows]
        return self.known[tree]

    def phi(self, tree):
        kind, branches, multipliers = tree
        value = [1.0] * (self.s + 1)
        for branch in branches:
            value = [x * y for x, y in zip(value, self.stages(branch))]
        if kind == "m":
            return self.undo(value)
        for m in multipliers:
            value = [x * y for x, y in zip(value, self.phi(m))]
        return value[:self.s]


def largest_defect(rows, order):
    method, worst = Method(rows), 0.0
    for o in range(1, order + 1):
        for tree in q_trees(o) + v_trees(o):
            factor, power = exact(tree)
            worst = max(worst, abs(method.stages(tree)[-1] - float(factor / (power + 1))))
    return worst


def read(name):
    """Rows of a and b as the program has them."""
    text = (Path(__file__).parents[2] / "src/schemes/tableau.c").read_text()
    body = re.search(r"pcs_tableau_%s = \{(.*?)\n\};" % name, text, re.S).group(1)
    numbers = lambda part: [eval(x, {"W": 6.0**0.5}) for x in part.replace("\n", " ").split(",") if x.strip()]
    b = numbers(re.search(r"\.b = \{(.*?)\}", body, re.S).group(1))
    rows = [[0.0] * len(b) for _ in b] + [b]
    for i, part in re.findall(r"\[(\d)\] = \{(.*?)\}", body, re.S):
        for j, x in enumerate(numbers(part)):
            rows[int(i)][j] = x
    return rows


def main():
    failed = 0
    for name, order in (("hem3", 3), ("hem4", 4), ("hem5", 5)):
        rows = read(name)
        defect = largest_defect(rows, order)
        beyond = largest_defect(rows, order + 1) if order < 5 else None
        pushes = [rows[i + 1][i] for i in range(len(rows) - 1)]
        print(f"{name}: order {order} to {defect:.1e}, next order off by {beyond}, smallest push {min(pushes):.3f}")
        failed += defect > 1e-14 or min(pushes) <= 0.0
        failed += beyond is not None and beyond < 1e-3
    return 1 if failed else 0


sys.exit(main())
