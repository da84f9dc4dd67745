// A controller in the loop: a force at the end of an elastic bar, computed from what is measured before every step,
// stops the bar in front of a wall and holds it there.

#include <percuss.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    static const char *const set[] = { "mesh.bar.elements=50", "time.end=8", "time.step=5.0e-4" };
    const double wanted = 1.0, stiffness = 20.0, damping = 28.0; // m, N/m, N s/m
    percuss *p = NULL;
    if (percuss_load_with("cases/bar_impact", 3, set, &p) != 0) {
        fprintf(stderr, "%s\n", percuss_message(p));
        percuss_destroy(&p);
        return 2;
    }
    int node = percuss_set_named(p, "bar.start", 0).items[0], equation = percuss_equation(p, node, 0);
    percuss_group wall = percuss_group_named(p, "wall");
    double largest = 0.0;
    while (!percuss_is_done(p)) {
        double gap = percuss_contact_at(p, wall.first).gap, rate = percuss_velocity(p)[equation];
        const double force[3] = { stiffness * (wanted - gap) - damping * rate, 0.0, 0.0 };
        if (percuss_apply(p, node, force) != 0 || percuss_step(p) != 0) break;
        largest = fmax(largest, percuss_contact_at(p, wall.first).force);
    }
    double gap = percuss_contact_at(p, wall.first).gap, work = percuss_energies(p).external_work;
    printf("t = %g s: gap %.6f m, wanted %g m; work of the controller %.3f J %s\n", percuss_time(p), gap, wanted, work,
           percuss_message(p));
    int is_good = percuss_is_done(p) && percuss_message(p)[0] == '\0' && fabs(gap - wanted) < 1e-2 && largest == 0.0;
    percuss_destroy(&p);
    return is_good ? 0 : 1;
}
