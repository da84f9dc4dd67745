// The cantilever that the tests of equilibria vary: a square steel beam of length 1 m and side 1 cm, 10 N at its tip.

#ifndef TESTS_REGRESSION_CANTILEVER_H
#define TESTS_REGRESSION_CANTILEVER_H

enum { MOST = 4096 };

static const double PI = 3.14159265358979323846;

#define SQUARE(d) "{type: rectangle, width: " d ", height: " d ", shear_factor: 0.8333333333333333}"

static const char cantilever[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 } }\n"
    "elements: { beam: { type: beam_timo_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800.0, section: " SQUARE(
        "0.01") " } }\n"
                "supports: { clamp: { set: beam.start, fix: [x, y, rz], reactions: true } }\n"
                "loads: { tip: { type: force, node: beam.end, value: [0, -10.0, 0] } }\n"
                "output: { probes: { tip: { node: beam.end, of: [x, y, z, ux, uy, uz] } } }\n";

static const double modulus = 2.1e11, shear = 2.1e11 / 2.6;

#endif
