"""The reduction of a Hopkinson bar against the exact waves of the case.
Argument: the path of the program."""

import unittest

from studies import Studies  # before percuss: it says where that is
import numpy as np  # noqa: I100
import pandas

import percuss
from percuss import Bar, Specimen, hopkinson

BAR = Bar(E=2.0e11, rho=8000.0, area=3.141592653589793e-4)
SPECIMEN = Specimen(length=0.01, area=7.853981633974483e-5)
Z, SMALL = 12566.370614359172, 251.32741228718345  # N s/m, of the bars and of the specimen
F, R = 0.5 * Z * 10.0, (Z - SMALL) / (Z + SMALL)  # N of the incident wave; reflection between them
PULSE, TRIP = 120e-6, 8e-6  # s


def reflected(t):
    """Force of the reflected wave at the front, t after the wave has come (README of the case); tension is positive."""
    n = np.floor(t / TRIP + 1e-9)
    wave = np.where(t < -1e-12, 0.0, R * (1.0 - (1.0 - R**2) * (1.0 - R**(2 * n)) / (1.0 - R**2)))
    return F * wave


def transmitted(t):
    """Force of the transmitted wave at the back, t after the wave has come to the front."""
    n = np.floor((t - 0.5 * TRIP) / TRIP + 1e-9)
    return np.where(t < 0.5 * TRIP - 1e-12, 0.0, -F * (1.0 - R**(2 * (n + 1))))


def both(wave, t):
    return wave(t) - wave(t - PULSE)


class Hopkinson(Studies):
    def test_exact_waves(self):
        t = np.arange(7001) * 1e-7
        d = (1.0, 0.5)
        lag = [x / 5000.0 for x in d]
        arrive = 400e-6
        gauge = both(lambda s: np.where(s < -1e-12, 0.0, -F), t - arrive + lag[0])
        gauge = gauge + both(reflected, t - arrive - lag[0])
        other = both(transmitted, t - arrive - lag[1])
        found = hopkinson(pandas.DataFrame({"t": t, "a": gauge / BAR.area, "b": other / BAR.area}), "a", "b", bar=BAR,
                          specimen=SPECIMEN, distances=d)
        s = found["t"].to_numpy() - arrive
        self.assertAlmostEqual(found["t"].iloc[0], arrive, delta=2e-7)
        incident = both(lambda x: np.where(x < -1e-12, 0.0, -F), s)
        # Away from the jumps, which samples blur.
        away = np.abs((s / (0.5 * TRIP)) - np.round(s / (0.5 * TRIP))) > 0.06
        away &= np.abs(s - PULSE) > 3e-7
        front = -(incident + both(reflected, s))
        back = -both(transmitted, s)
        for name, force in (("stress_front", front), ("stress_back", back)):
            np.testing.assert_allclose(found[name][away] * SPECIMEN.area, force[away], atol=1e-6 * F)
        np.testing.assert_allclose(found["stress"], 0.5 * (found["stress_front"] + found["stress_back"]))
        v = (-(incident - both(reflected, s)) + both(transmitted, s)) / Z
        np.testing.assert_allclose(found["strain_rate"][away], v[away] / SPECIMEN.length, atol=1e-6 * 10.0 / 0.01)
        np.testing.assert_allclose(found["strain"], np.cumsum(v) * 1e-7 / SPECIMEN.length, atol=2e-4)
        # In the first microseconds the specimen is loaded at its front alone; after ten round trips it is balanced.
        self.assertAlmostEqual(found["imbalance"][(s > 1e-6) & (s < 3e-6)].iloc[0], 2.0, places=9)
        self.assertLess(np.abs(found["imbalance"][away & (s > 80e-6) & (s < PULSE)]).max(), 0.05)

    def test_what_is_wrong_is_told(self):
        table = pandas.DataFrame({"t": [0.0, 1e-6, 2e-6], "a": [0.0, -1.0, -1.0], "b": [0.0, 0.0, 0.0]})
        with self.assertRaisesRegex(percuss.InputError, "no column 'x'"):
            hopkinson(table, "x", "b", bar=BAR, specimen=SPECIMEN, distances=(1.0, 1.0))
        with self.assertRaisesRegex(percuss.InputError, "the history ends at 2e-06 s"):
            hopkinson(table, "a", "b", bar=BAR, specimen=SPECIMEN, distances=(1.0, 1.0))
        with self.assertRaisesRegex(percuss.InputError, "no wave reaches the gauge 'b'"):
            hopkinson(table, "b", "a", bar=BAR, specimen=SPECIMEN, distances=(1.0, 1.0))
        with self.assertRaisesRegex(percuss.InputError, "sizes must be positive"):
            hopkinson(table, "a", "b", bar=BAR, specimen=Specimen(0.0, 1.0), distances=(1.0, 1.0))


unittest.main()
