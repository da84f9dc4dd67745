// Journals in bearings that nodes carry: gaps are the backlash that is left, friction sees the surfaces.

#include "support/check.h"
#include "support/model.h"

// Shaft and housing as bodies with small or finite rotations; the housing may be a mass that does not turn.
static model *bearing(const char *shaft, const char *housing)
{
    model *m = model_create();
    model_point(m, "shaft", (double[]){ 0.0, 0.3, 0.4 });
    model_point(m, "house", (double[]){ 0.1, 0.0, 0.0 });
    model_group(m, shaft, "shaft", "mass=2 inertia=0.3,0.4,0.4");
    model_group(m, housing, "house", "mass=3 inertia=0.5,0.6,0.6");
    model_contact(m, "rub", "journal",
                  "nodes=shaft housing=house axis=2,0,0 radius=1.5 node_radius=0.25 offset=0.2,0,0 restitution=0.5 "
                  "friction=0.3");
    model_build(m);
    return m;
}

TEST(gap_is_the_backlash_left)
{
    model *m = bearing("disc", "point_mass");
    const double q[MODEL_MAX_SIZE] = { 0 };
    CHECK(m->system->nrow == 1 && m->system->ntangent == 2);
    double gap, point[1][3], normal[1][3];
    pcs_system_gaps(m->system, pcs_at(0.0, q, NULL), &gap);
    CHECK_NEAR(gap, 1.5 - 0.25 - 0.5, 1e-15);
    const double touch[3] = { 0.2, 0.45, 0.6 }, inwards[3] = { 0.0, -0.6, -0.8 };
    pcs_system_points(m->system, pcs_at(0.0, q, NULL), point, normal);
    CHECK_ALL_NEAR(3, point[0], touch, 1e-15);
    CHECK_ALL_NEAR(3, normal[0], inwards, 1e-15);
    model_destroy(&m);
}

// A shaft that spins at w slides at w r on its bearing, and friction turns both bodies the same way round.
TEST(friction_sees_the_surfaces)
{
    model *m = bearing("disc", "disc");
    const double q[12] = { 0 }, spin[12] = { 0, 0, 0, 7.0 }, house[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 2.0 };
    pcs_system_aim(m->system, pcs_at(0.0, q, NULL));
    CHECK_NEAR(pcs_rows_dot(m->system->T, 0, spin), 7.0 * 0.25, 1e-15);
    CHECK_NEAR(pcs_rows_dot(m->system->T, 0, house), -2.0 * 1.5, 1e-15);
    CHECK_NEAR(pcs_rows_dot(m->system->T, 1, spin), 0.0, 1e-15);
    CHECK_NEAR(pcs_system_rate(m->system, 0, spin), 0.0, 1e-15);
    model_destroy(&m);
}
