// Parameter identification: Young's modulus of a bar from the measured motion of its end after an impact, by least
// squares (Gauss and Newton, with the sensitivities from differences of runs).

#include <percuss.h>

#include <math.h>
#include <stdio.h>

enum { NSAMPLE = 40 };

// Positions of the end at equal times; 0 when all of them are there.
static int measure(double E, double rho, double x[NSAMPLE])
{
    char young[64], density[64];
    const char *const set[] = { young, density, "mesh.bar.elements=40", "time.end=1.5", "output.history=false" };
    percuss *p = NULL;
    snprintf(young, sizeof young, "elements.bar.E=%.17g", E);
    snprintf(density, sizeof density, "elements.bar.rho=%.17g", rho);
    int answer = percuss_load_with("cases/bar_impact", 5, set, &p), tip = percuss_probe_named(p, "tip.x");
    for (int i = 0; i < NSAMPLE && answer == 0; i++) {
        answer = percuss_run_to(p, 1.5 * (i + 1) / NSAMPLE);
        x[i] = percuss_probe_at(p, tip);
    }
    if (answer != 0) fprintf(stderr, "%s\n", percuss_message(p));
    percuss_destroy(&p);
    return answer;
}

// One step of the method for the logarithm of E, which is what the motion tells: only E/rho enters it.
static int improve(const double data[NSAMPLE], double rho, double *E, double *residual)
{
    double x[NSAMPLE], more[NSAMPLE], slope = 0.0, right = 0.0;
    const double change = 1e-4;
    if (measure(*E, rho, x) != 0 || measure(*E * (1.0 + change), rho, more) != 0) return 1;
    *residual = 0.0;
    for (int i = 0; i < NSAMPLE; i++) {
        double sensitivity = (more[i] - x[i]) / change, rest = data[i] - x[i];
        slope += sensitivity * sensitivity;
        right += sensitivity * rest;
        *residual += rest * rest;
    }
    *E *= exp(right / slope);
    return 0;
}

int main(void)
{
    double data[NSAMPLE], E = 700.0, residual = 0.0;
    const double truth = 900.0, rho = 1.0;
    if (measure(truth, rho, data) != 0) return 2;
    for (int i = 0; i < 12; i++) {
        if (improve(data, rho, &E, &residual) != 0) return 2;
        printf("E = %.9g, sum of squares %.3e\n", E, residual);
    }
    return fabs(E - truth) < 1e-4 * truth ? 0 : 1;
}
