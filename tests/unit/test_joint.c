// Motions that can be given to joints.

#include "support/check.h"

#include "rows/motion.h"

#include <math.h>
#include <string.h>

static const double table[] = { 0.5, 1.0, 1.0, 2.0, 2.0, -1.0, 2.5, -1.0, 4.0, 3.0 };

static pcs_motion_params motion(int kind)
{
    pcs_motion_params p = { .amplitude = NAN, .frequency = NAN, .distance = NAN, .speed = NAN };
    if (kind < 2) {
        p.table = (pcs_list){ .nrow = 5, .count = 10, .value = table };
        p.interpolation = kind == 0 ? PCS_MOTION_LINEAR : PCS_MOTION_SMOOTH;
    }
    if (kind == 2 || kind == 3) {
        p.amplitude = 0.7;
        p.frequency = 0.6;
        p.phase = 0.3;
    }
    if (kind == 4) p.distance = -1.3;
    if (kind == 5 || kind == 6) p.speed = 2.2;
    if (kind >= 3 && kind != 6) p.rise = 1.7;
    return p;
}

TEST(motions_are_consistent)
{
    const double eps = 1e-5;
    for (int kind = 0; kind <= 6; kind++) {
        pcs_motion_params p = motion(kind);
        const char *option;
        CHECK(pcs_motion_check(&p, &option) == NULL);
        for (double t = -0.337; t < 5.0; t += 0.1731) {
            double s[3], ahead[3], behind[3];
            if (kind >= 2 && t < 0.0) continue; // nothing moves before t = 0 but tables
            pcs_motion_at(&p, t, s);
            pcs_motion_at(&p, t + eps, ahead);
            pcs_motion_at(&p, t - eps, behind);
            CHECK_NEAR(s[1], (ahead[0] - behind[0]) / (2.0 * eps), 1e-8);
            CHECK_NEAR(s[2], (ahead[1] - behind[1]) / (2.0 * eps), 1e-7);
        }
    }
}

TEST(motions_go_where_they_should)
{
    double s[3];
    pcs_motion_params linear = motion(0), smooth = motion(1), harmonic = motion(2), risen = motion(3),
                      increment = motion(4), speed = motion(5), sudden = motion(6);
    for (int i = 0; i < 5; i++) {
        pcs_motion_at(&linear, table[2 * i], s);
        CHECK_NEAR(s[0], table[2 * i + 1], 1e-15);
        pcs_motion_at(&smooth, table[2 * i], s);
        CHECK_NEAR(s[0], table[2 * i + 1], 1e-15);
    }
    // At an entry the velocity is that of the way to it; outside nothing moves.
    pcs_motion_at(&linear, 2.0, s);
    CHECK_NEAR(s[1], -3.0, 1e-15);
    pcs_motion_at(&linear, 0.2, s);
    CHECK(s[0] == 1.0 && s[1] == 0.0);
    pcs_motion_at(&smooth, 9.0, s);
    CHECK(s[0] == 3.0 && s[1] == 0.0);
    pcs_motion_at(&harmonic, 0.0, s);
    CHECK_NEAR(s[0], 0.0, 1e-16);
    CHECK_NEAR(s[1], 0.7 * 2.0 * 3.14159265358979323846 * 0.6 * cos(0.3), 1e-14);
    pcs_motion_params *const starts[] = { &risen, &increment, &speed };
    for (int i = 0; i < 3; i++) {
        pcs_motion_at(starts[i], 0.0, s);
        CHECK(s[0] == 0.0 && s[1] == 0.0 && s[2] == 0.0);
    }
    pcs_motion_at(&increment, 1.7, s);
    CHECK_NEAR(s[0], -1.3, 1e-15);
    CHECK_NEAR(s[1], 0.0, 1e-15);
    pcs_motion_at(&increment, 0.85, s);
    CHECK_NEAR(s[0], -0.65, 1e-15);
    pcs_motion_at(&speed, 3.7, s);
    CHECK_NEAR(s[0], 2.2 * (2.0 + 0.85), 1e-14);
    CHECK_NEAR(s[1], 2.2, 1e-15);
    pcs_motion_at(&sudden, 3.0, s);
    CHECK_NEAR(s[0], 6.6, 1e-15);
    CHECK_NEAR(s[1], 2.2, 1e-15);
}

// A formula and its derivatives are those of the harmonic motion that it states.
TEST(formulas_move_like_closed_forms)
{
    static const char text[] = "0.7*(sin(2*pi*0.6*t + 0.3) - sin(0.3))";
    static const char *const variables[] = { "t", NULL };
    pcs_expression e;
    pcs_expression_fault fault;
    pcs_motion_params harmonic = motion(2), formula = motion(7);
    const char *option;
    CHECK(pcs_expression_compile(text, strlen(text), variables, &e, &fault));
    formula.rise = 0.0;
    formula.expression = &e;
    CHECK(pcs_motion_check(&formula, &option) == NULL);
    for (double t = 0.0; t < 5.0; t += 0.1731) {
        double a[3], b[3];
        pcs_motion_at(&harmonic, t, a);
        pcs_motion_at(&formula, t, b);
        CHECK_ALL_NEAR(3, a, b, 1e-13);
    }
    formula.rise = 1.0;
    CHECK(pcs_motion_check(&formula, &option) != NULL && strcmp(option, "rise") == 0);
}
