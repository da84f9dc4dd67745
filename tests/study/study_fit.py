"""How often an interval of `percuss fit` holds the true value: a Hopkinson bar of few cells, whose transmitted stress
gets normal noise; the modulus of the specimen is fitted in every draw. Of 100 intervals of 95 % confidence 95 +- 5 hold
it.

    /usr/bin/python3 tests/study/study_fit.py build/percuss [DRAWS]
"""

import os
import sys
import tempfile

TRUE, NOISE = 8.0e9, 2.0e6  # N/m^2
CASE = """\
mesh:
  striker: { type: line, from: [-0.3, 0, 0], to: [0, 0, 0], elements: 12 }
  incident: { type: line, from: [0, 0, 0], to: [1.0, 0, 0], elements: 40 }
  specimen: { type: line, from: [1.0, 0, 0], to: [1.01, 0, 0], elements: 2 }
  transmitted: { type: line, from: [1.01, 0, 0], to: [2.01, 0, 0], elements: 40 }
elements:
  striker: { type: rod, mesh: striker, E: 2.0e+11, rho: 8000.0, area: 3.14e-4 }
  incident: { type: rod, mesh: incident, E: 2.0e+11, rho: 8000.0, area: 3.14e-4 }
  specimen: { type: rod, mesh: specimen, E: 8.0e+9, rho: 1280.0, area: 7.85e-5 }
  transmitted: { type: rod, mesh: transmitted, E: 2.0e+11, rho: 8000.0, area: 3.14e-4 }
sets:
  gauge_incident: { cells: incident, box: [[0.49, -1, -1], [0.53, 1, 1]] }
  gauge_transmitted: { cells: transmitted, box: [[1.50, -1, -1], [1.54, 1, 1]] }
initial: [{ set: striker, velocity: [10.0, 0, 0] }]
contacts:
  strike: { type: node_node, a: striker.end, b: incident.start, normal: [1, 0, 0], restitution: 0.0 }
  front: { type: node_node, a: incident.end, b: specimen.start, normal: [1, 0, 0], restitution: 0.0 }
  back: { type: node_node, a: specimen.end, b: transmitted.start, normal: [1, 0, 0], restitution: 0.0 }
scheme: { type: moreau_jean, theta: 0.6 }
time: { step: 4.0e-6, end: 4.4e-4 }
output:
  frames: false
  probes:
    incident: { element: gauge_incident, of: [stress] }
    transmitted: { element: gauge_transmitted, of: [stress] }
"""


def draws(folder, count, seed=1):
    """Estimates of the modulus from `count` draws of the noise, a percuss.Fit each."""
    import numpy as np
    import pandas

    import percuss
    case = os.path.join(folder, "hopkinson.yaml")
    with open(case, "w") as file:
        file.write(CASE)
    exact = percuss.run(case).history
    rng = np.random.default_rng(seed)
    for _ in range(count):
        noisy = exact["transmitted.stress"] + NOISE * rng.standard_normal(len(exact))
        data = pandas.DataFrame({"t": exact["t"], "gauge": noisy})
        yield percuss.fit(case, {"elements.specimen.E": (6.0e9, 1.2e10, 8.2e9)}, data, "transmitted.stress=gauge")


def held(fits):
    """How many intervals hold the true value, and the root mean square of the errors over their deviations."""
    found = [fit.estimates.loc["elements.specimen.E"] for fit in fits]
    inside = sum(one.low <= TRUE <= one.high for one in found)
    return inside, (sum(((one.value - TRUE) / one.deviation)**2 for one in found) / len(found))**0.5


if __name__ == "__main__":
    os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "libpercuss.so.0")
    sys.path.insert(0, "python")
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory() as directory:
        inside, spread = held(draws(directory, number))
    print(f"{inside} of {number} intervals hold the true modulus; errors over deviations: rms {spread:.3f}")
    sys.exit(0 if abs(inside / number - 0.95) <= 0.05 else 1)
