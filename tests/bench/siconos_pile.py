"""The contact problem of one step of a pile with friction, in Percuss and in Siconos.

    siconos_pile.py PERCUSS [WIDTH LAYERS [STEP]]        default: 12 beams in 7 layers, 1008 contacts, step 60

Moreau-Jean. From the state before the step and the matrices that Percuss shows, the condensed problem u = W r + q with
Coulomb's law is formed here as a dense matrix and given to solvers of Siconos, each down to velocities that agree with
those of Percuss to 1e-8 of the largest. The figures of Siconos are the solver alone, W ready made; that of Percuss is
the whole step, in which W is never formed. Seconds of the processor.
"""
import os
import resource
import subprocess
import sys

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg
import siconos.numerics as numerics

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
import percuss  # noqa: E402

# The case of make_pile.py.
GRAVITY, THETA, H, FRICTION = 9.81, 0.5, 1e-3, 0.5
SOLVERS = ("FRICTION_3D_NSGS", "FRICTION_3D_ADMM", "FRICTION_3D_NSN_AC", "FRICTION_3D_NSN_FB", "FRICTION_3D_NSN_NM")
AGREED = 1e-8


def seconds():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def load(width, layers):
    text = subprocess.run([sys.executable, os.path.join(HERE, "..", "study", "make_pile.py"), str(width), str(layers),
                           "0.0001"], check=True, capture_output=True, text=True).stdout
    return percuss.load(text=text)


def translations(sim, node):
    return [sim.equation(node, axis) for axis in "xyz"]


def directions(sim):
    """Rows of the contacts, normal and both tangents of each: a tangent has the normal's entries, one axis on."""
    G = sparse.csr_matrix(sim.G)
    moves = {x[2]: x for x in (translations(sim, n) for n in range(len(sim.nodes)))}
    rows, columns, values = [], [], []
    for j in range(G.shape[0]):
        for p in range(G.indptr[j], G.indptr[j + 1]):
            if G.data[p] == 0.0:
                continue
            x, y, z = moves[G.indices[p]]
            for k, equation in enumerate((z, x, y)):
                rows.append(3 * j + k)
                columns.append(equation)
                values.append(G.data[p])
    return sparse.csr_matrix((values, (rows, columns)), shape=(3 * G.shape[0], G.shape[1]))


def condensed(sim):
    """S of the step, the velocities without contact, R, W and q."""
    M, K, C = (sparse.csc_matrix(A) for A in (sim.M, sim.K, sim.C))
    q, v, weight = np.array(sim.q), np.array(sim.v), np.zeros(len(sim.q))
    for n in range(len(sim.nodes)):
        weight[translations(sim, n)[2]] = -GRAVITY
    S = scipy.sparse.linalg.splu(sparse.csc_matrix(M + H * THETA * C + (H * THETA) ** 2 * K))
    rest = M @ (v + H * weight) - H * (1 - THETA) * (C @ v) - H * (K @ (q + H * THETA * (1 - THETA) * v))
    R = directions(sim)
    free = S.solve(rest)
    W = R @ S.solve(R.T.toarray())
    return S, free, R, np.asarray(W), R @ free


def solve(name, W, q, tolerance):
    """Impulses by one of Siconos' solvers, the seconds it took, its iterations."""
    contacts = len(q) // 3
    problem = numerics.FrictionContactProblem(3, contacts, W, q, np.full(contacts, FRICTION))
    options = numerics.SolverOptions(getattr(numerics, name))
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 2000
    r, u = np.zeros_like(q), np.zeros_like(q)
    begin = seconds()
    numerics.fc3d_driver(problem, r, u, options)
    return r, seconds() - begin, options.iparam[numerics.SICONOS_IPARAM_ITER_DONE]


def best_of_percuss(sim, repeats=5):
    state, times = sim.keep(), []
    for _ in range(repeats):
        sim.restore(state)
        begin = seconds()
        sim.step()
        times.append(seconds() - begin)
    return min(times)


def table(sim, step, W_and_more, made):
    S, free, R, W, q = W_and_more
    taken = best_of_percuss(sim)
    v, scale = np.array(sim.v), np.abs(free).max()
    print(f"{len(q) // 3} contacts, {len(v)} equations, step {step}")
    print(f"{'':28} {'s':>9} {'/ Percuss':>9} {'iterations':>10} {'velocities':>11}")
    print(f"{'Percuss, the whole step':28} {taken:9.4f} {1.0:9.1f}")
    print(f"{'W as a dense matrix':28} {made:9.4f} {made / taken:9.1f}")
    for name in SOLVERS:
        for tolerance in (1e-7, 1e-10):
            r, spent, count = solve("SICONOS_" + name, W, q, tolerance)
            error = np.abs(free + S.solve(R.T @ r) - v).max() / scale
            if error < AGREED:
                break
        print(f"{name:28} {spent:9.4f} {spent / taken:9.1f} {count:10d} {error:11.1e}", flush=True)
        yield error


def main():
    width, layers = (int(x) for x in sys.argv[2:4]) if len(sys.argv) > 3 else (12, 7)
    step = int(sys.argv[4]) if len(sys.argv) > 4 else 60
    sim = load(width, layers)
    for _ in range(step):
        sim.step()
    begin = seconds()
    problem = condensed(sim)
    if not min(table(sim, step, problem, seconds() - begin)) < AGREED:
        sys.exit("no solver of Siconos agrees with Percuss")


main()
