"""An elastic bar against a wall: contact force over time, and how it settles as the mesh is refined."""

import numpy as np
import percuss

CASE = "cases/bar_impact"

# The exact force of a bar at speed v is v sqrt(E rho) A for the time 2 L/c that a wave needs to and fro.
E, rho, area, length, speed = 900.0, 1.0, 1.0, 10.0, 10.0
exact_force, exact_time = speed * np.sqrt(E * rho) * area, 2.0 * length / np.sqrt(E / rho)

results = percuss.run(CASE, set={"mesh.bar.elements": 400, "time.step": 1.0e-3}, frames=100)
t, force = results.history["t"], np.nan_to_num(results.history["wall.force"])
impulse = np.nan_to_num(results.history["wall.step_impulse"]).sum()
print(f"impulse {impulse:.4f} N s, exact {exact_force * exact_time:.4f} N s")
print(f"mean force {force[(t > 0.55) & (t < 1.1)].mean():.3f} N, exact {exact_force:.3f} N")
print(f"{len(results.frames)} frames, largest displacement {np.abs(results.displacements).max():.3f} m")

table = percuss.study(CASE, {"mesh.bar.elements": [25, 50, 100]}, set={"output.frames": False})
print(table)

frequencies = percuss.modes(CASE, count=4).frequencies
print("frequencies, rad/s:", np.round(frequencies, 4))

assert abs(impulse / (exact_force * exact_time) - 1.0) < 0.02
assert len(table["mesh.bar.elements"]) == 3
assert abs(frequencies[1] / (np.pi * np.sqrt(E / rho) / length) - 1.0) < 1e-3
