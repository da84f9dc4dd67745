"""Large models on one core: lattices of beams against a wall and piles of beams with friction, as they grow.

    /usr/bin/python3 tests/study/lattices.py build/percuss [LARGEST [WHAT]]      [lattices and piles up to 1e6 equations]

WHAT: plane, space, pile. The wall of the lattices is tilted a little, so that contacts close a few more in every step
and sets keep changing. Set-up is everything up to the steps. Per step, in mean: `round` changes of contact sets,
`solves` linear solves. Balances are the worst of all steps over what they may be; piles run until they rest."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_pile  # noqa: E402

SPACE = ("elements.struts={type: beam_timo_3d, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800.0, "
         "orientation: [0.36, 0.48, 0.8], section: {type: rectangle, width: 0.01, height: 0.01, "
         "shear_factor: 0.8333333333333333}}")
# Equations, boxes, and how far the lattice reaches along y, m.
PLANE = [(1e4, [33, 100], 10.0), (1e5, [33, 1000], 100.0), (1e6, [33, 10000], 1000.0)]
BOXES = [(1e4, [8, 14, 14], 1.4), (1e5, [16, 31, 31], 3.1), (3e5, [23, 46, 46], 4.6), (1e6, [33, 70, 70], 7.0)]
PILES = [(6e2, 5, 4), (1e4, 12, 7), (6e4, 32, 10)]
