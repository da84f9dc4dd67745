// Two models that exchange forces: a spring between two bars, each in a simulation of its own. The forces of every step
// come from the positions before it, opposite and equal, so that momentum is kept to round-off. One model of both bars
// and the spring says what the motion should be.

#include <percuss.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double rate = 50.0; // N/m, of the spring

static percuss *must_open(const char *text)
{
    percuss *p = NULL;
    if (percuss_open(&(percuss_source){ .path = "coupled", .text = text }, &p) == 0) return p;
    fprintf(stderr, "%s\n", percuss_message(p));
    exit(2);
}

static double momentum(percuss *p)
{
    percuss_matrix M;
    double sum = 0.0;
    if (percuss_matrix_of(p, PERCUSS_MASS, &M) != 0) return NAN;
    for (int j = 0; j < M.ncol; j++)
        for (int k = M.start[j]; k < M.start[j + 1]; k++) sum += M.value[k] * percuss_velocity(p)[j];
    return sum;
}

#define BAR(name, from, to) "  " name ": { type: line, from: [" from ", 0, 0], to: [" to ", 0, 0], elements: 20 }\n"
#define ROD(name) "  " name ": { type: rod, mesh: " name ", E: 900.0, rho: 1.0, area: 1.0 }\n"
#define REST "scheme: { type: newmark }\ntime: { step: 1.0e-4, end: 0.5 }\n"

int main(void)
{
    percuss *left = must_open("mesh:\n" BAR("left", "0", "1") "elements:\n" ROD(
        "left") "initial: [ { set: left, velocity: [1, 0, 0] } ]\n" REST);
    percuss *right = must_open("mesh:\n" BAR("right", "1.5", "2.5") "elements:\n" ROD("right") REST);
    percuss *whole = must_open(
        "mesh:\n" BAR("left", "0", "1")
            BAR("right", "1.5",
                "2.5") "  spring: { type: link, a: left.end, b: right.start }\n"
                       "elements:\n" ROD("left")
                           ROD("right") "  spring: { type: spring_damper, mesh: spring, stiffness: 50.0, in: line }\n"
                                        "initial: [ { set: left, velocity: [1, 0, 0] } ]\n" REST);
    int a = percuss_equation(left, 20, 0), b = percuss_equation(right, 0, 0);
    double start = momentum(left) + momentum(right);
    while (!percuss_is_done(left)) {
        double pull = rate * (percuss_displacement(right)[b] - percuss_displacement(left)[a]);
        percuss_applied_force(left)[a] = pull;
        percuss_applied_force(right)[b] = -pull;
        if (percuss_step(left) != 0 || percuss_step(right) != 0 || percuss_step(whole) != 0) break;
    }
    double drift = momentum(left) + momentum(right) - start;
    double apart = percuss_displacement(left)[a] - percuss_displacement(whole)[percuss_equation(whole, 20, 0)];
    printf("t = %g s: momentum %.3f, drift %.1e kg m/s; %.1e m from the model of both %s%s\n", percuss_time(left),
           start, drift, apart, percuss_message(left), percuss_message(right));
    int is_good = percuss_time(left) == 0.5 && fabs(drift) < 1e-11 && fabs(apart) < 1e-3 && momentum(right) > 0.2;
    percuss_destroy(&left);
    percuss_destroy(&right);
    percuss_destroy(&whole);
    return is_good ? 0 : 1;
}
