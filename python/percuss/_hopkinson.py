"""Reduction of a split Hopkinson pressure bar: strain rate, stress and strain of the specimen from two strain gauges.

Waves in the bars keep their shape and travel at c = sqrt(E/rho). With the strains e_i, e_r and e_t of the incident, the
reflected and the transmitted wave at the ends of the specimen (compression is negative, the striker moves to +x)

  v1 = -c (e_i - e_r)     v2 = -c e_t              velocities of its front and its back
  F1 = -E A (e_i + e_r)   F2 = -E A e_t            forces there, positive in compression
  rate = (v1 - v2) / L    strain = integral of it  stress = (F1 + F2) / (2 As), of three waves; F2 / As, of one

Source: W. Chen, B. Song: Split Hopkinson (Kolsky) Bar. Springer 2011, chapter 1.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas
from scipy.integrate import cumulative_trapezoid

from .errors import InputError
from .results import Results

FIRST = 0.02  # of the largest strain: the incident wave has come


class Bar(NamedTuple):
    """Incident and transmitted bar, of the same material and section."""

    E: float  #: Pa
    rho: float  #: kg/m^3
    area: float  #: m^2

    @property
    def speed(self) -> float:
        """Of waves, m/s."""
        return float(np.sqrt(self.E / self.rho))


class Specimen(NamedTuple):
    """What is between the bars."""

    length: float  #: m
    area: float  #: m^2


def hopkinson(results: Any, incident: str = "incident.stress", transmitted: str = "transmitted.stress", *, bar: Bar,
              specimen: Specimen, distances: tuple[float, float]) -> pandas.DataFrame:
    """Strain rate, strain and stresses of the specimen over time, from stresses at gauges on both bars: columns of the
    history of a run, or of a table with t, s. `distances` are those of the gauges from the specimen, m. All are
    positive in compression. Begins when the wave reaches the specimen and ends when the gauges say no more: the
    incident wave must have passed its gauge before the reflected one comes, 2 * distances[0] / c later. `imbalance` is
    the difference of the forces on both sides over their mean: below some 5 % the specimen is in equilibrium."""
    table = results.table if isinstance(results, Results) else results
    for name in ("t", incident, transmitted):
        if name not in table:
            raise InputError(f"there is no column '{name}'; there are: {', '.join(map(str, table))}")
    if min(*bar, *specimen, *distances) <= 0.0:
        raise InputError(f"sizes must be positive, are {bar}, {specimen}, distances={distances}")
    t, first, second = (np.nan_to_num(np.asarray(table[name], float)) for name in ("t", incident, transmitted))
    lags = [distance / bar.speed for distance in distances]
    largest = np.abs(first).max(initial=0.0)
    if largest == 0.0 or len(t) < 3:
        raise InputError(f"no wave reaches the gauge '{incident}'")
    come = float(t[max(int(np.argmax(np.abs(first) > FIRST * largest)) - 1, 0)])  # the last sample before the wave
    end = min(come + 3 * lags[0], t[-1] - lags[0], t[-1] - lags[1])
    now = t[(t >= come + lags[0] - 1e-12 * t[-1]) & (t <= end)]
    if len(now) < 3:
        raise InputError(f"the history ends at {t[-1]:g} s, before the gauges have seen what the specimen did from "
                         f"{come + lags[0]:g} s on")
    e_i = np.interp(now - lags[0], t, first) / bar.E
    e_r = np.interp(now + lags[0], t, first) / bar.E
    e_t = np.interp(now + lags[1], t, second) / bar.E
    front, back = -bar.E * bar.area * (e_i + e_r), -bar.E * bar.area * e_t
    rate = -bar.speed * (e_i - e_r - e_t) / specimen.length
    strain = cumulative_trapezoid(rate, now, initial=0.0)
    mean = 0.5 * (front + back)
    with np.errstate(divide="ignore", invalid="ignore"):
        imbalance = np.where(mean != 0.0, (front - back) / mean, np.nan)
    found = pandas.DataFrame({"t": now, "strain_rate": rate, "strain": strain, "stress": mean / specimen.area,
                              "stress_front": front / specimen.area, "stress_back": back / specimen.area,
                              "imbalance": imbalance})
    found.attrs["units"] = {"t": "s", "strain_rate": "1/s", "strain": "", "stress": "Pa", "stress_front": "Pa",
                            "stress_back": "Pa", "imbalance": ""}
    return found
