"""Control in the loop: a force at the end of an elastic bar stops it in front of a wall and holds it there. A step that
went wrong is taken back."""

import percuss

WANTED, STIFFNESS, DAMPING = 1.0, 20.0, 28.0  # m, N/m, N s/m

sim = percuss.load("cases/bar_impact", set={"mesh.bar.elements": 50, "time.end": 8.0, "time.step": 5.0e-4})
end = sim.equation("bar.start", "x")
wall = sim.contacts["wall"]
applied, q, v, gaps = sim.applied, sim.q, sim.v, wall.gaps  # no copies: they show the present state
largest = 0.0
for step in sim:
    applied[end] = STIFFNESS * (WANTED - gaps[0]) - DAMPING * v[end]
    largest = max(largest, wall.force)
print(f"gap {wall.gap:.4f} m, wanted {WANTED} m; work of the controller {sim.energy.external_work:.2f} J")
assert abs(wall.gap - WANTED) < 1e-2 and largest == 0.0

# What would have been without the controller, from a state that was kept.
sim = percuss.load("cases/bar_impact", set={"mesh.bar.elements": 50})
sim.run(until=0.4)
kept = sim.keep()
sim.run(until=0.6)
print(f"without it the wall presses with {sim.contacts['wall'].force:.1f} N at {sim.time:.1f} s")
sim.restore(kept)
sim.apply("bar.start", [1.0, 0.0, 0.0])
sim.step()
assert abs(sim.energy.external_work + 1.0 * 10.0 * sim.step_size) < 0.01
