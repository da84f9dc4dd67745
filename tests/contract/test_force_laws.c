// Contacts that give way, on every gap type and with every force law, in states far from rest: tangents are the slopes
// of the force, the force is the slope of the energy, what is lost is what is missing, and the resultant is the sum.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"
#include "support/slopes.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

// Bodies that overlap at rest; `law` is to be filled in.
typedef struct arrangement {
    const char *gap, *model, *contact;
} arrangement;

#define BEAM "E: 1.0e+3, nu: 0.3, rho: 3, orientation: [0, 0, 1], section: { type: circle, diameter: 0.2 }"

static const arrangement arrangements[] = {
    { "node_plane",
      "mesh: { body: { type: point, at: [0.1, -0.2, 0.15] } }\n"
      "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [1, 2, 2.5] } }\n",
      "type: node_plane, nodes: body, point: [0, 0, 0], normal: [1, 2, 2], node_radius: 0.5" },
    { "node_plane",
      "mesh: { body: { type: point, at: [0.1, -0.2, 0.15] } }\n"
      "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [1, 2, 2.5] } }\n",
      "type: node_plane, nodes: body, point: [0, 0, 0], normal: [1, 2, 2], offsets: [[-0.4, 0.1, 0.05], [0, -0.5, "
      "0.2]]" },
    { "disc_plane",
      "mesh: { body: { type: point, at: [0.1, -0.2, 0.15] } }\n"
      "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [1, 2, 2.5] } }\n",
      "type: disc_plane, nodes: body, axis: [1, 0.2, 0.3], radius: 0.6, width: 0.1, point: [0, 0, 0], normal: [0, 0, "
      "1]" },
    { "node_node",
      "mesh: { a: { type: point, at: [0.3, 0, 0] }, b: { type: point, at: [0, 0.1, 0] } }\n"
      "elements: { a: { type: point_mass, mesh: a, mass: 2 }, b: { type: point_mass, mesh: b, mass: 3 } }\n",
      "type: node_node, a: a, b: b, normal: [2, 1, -2]" },
    { "node_circle",
      "mesh: { a: { type: point, at: [[0.7, 0.5, 0], [-0.6, 0.65, 0]] } }\n"
      "elements: { a: { type: rigid_body_2d, mesh: a, mass: 2, inertia: 0.3 } }\n",
      "type: node_circle, nodes: a, centre: [0.02, 0.01, 0], radius: 1.0, node_radius: 0.3, side: inside" },
    { "node_circle",
      "mesh: { a: { type: point, at: [0.7, 0.5, 0.2] } }\n"
      "elements: { a: { type: rigid_body_3d, mesh: a, mass: 2, inertia: [1, 2, 2.5] } }\n",
      "type: node_circle, nodes: a, centre: [0, 0, 0], axis: [0, 1, 3], radius: 1.0, node_radius: 0.1, side: outside" },
    { "journal",
      "mesh: { shaft: { type: point, at: [0.2, 0.3, 0.35] }, house: { type: point, at: [0.1, 0, 0] } }\n"
      "elements: { shaft: { type: rigid_body_3d, mesh: shaft, mass: 2, inertia: [1, 2, 2.5] },\n"
      "            house: { type: rigid_body_3d, mesh: house, mass: 3, inertia: [2, 2, 2.5] } }\n",
      "type: journal, nodes: shaft, housing: house, axis: [2, 0, 0], radius: 0.6, node_radius: 0.4, "
      "offset: [0.2, 0, 0.1]" },
    { "node_segment",
      "mesh: { beam: { type: line, from: [0, 0, 0], to: [2, 0.3, 0], elements: 3 },\n"
      "        a: { type: point, at: [[0.9, 0.3, 0], [0.2, -0.05, 0]] } }\n"
      "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 1.0e+3, nu: 0.3, rho: 3,\n"
      "                    section: { type: rectangle, height: 0.2, width: 0.1 } },\n"
      "            a: { type: rigid_body_2d, mesh: a, mass: 2, inertia: 0.3 } }\n",
      "type: node_segment, nodes: a, segments: beam, radius: 0.1, node_radius: 0.15" },
    { "beam_beam",
      "mesh: { low: { type: line, from: [-1, 0, 0], to: [1, 0.2, 0.1], elements: 2 },\n"
      "        high: { type: line, from: [0.3, -0.8, 0.15], to: [0.4, 1.2, 0.25], elements: 2 } }\n"
      "elements: { low: { type: beam_exact_3d, mesh: low, " BEAM " }, high: { type: beam_exact_3d, mesh: high, " BEAM
      " } }\n",
      "type: beam_beam, a: low, b: high, radius: 0.1, most: 3" },
};

static const char *const laws[] = {
    "type: linear, stiffness: 800",
    "type: hertz, stiffness: 900",
    "type: hertz, stiffness: 900, exponent: 2.25",
    "type: hertz, E: 3.0e+3, nu: 0.3, radius: 0.2, other_E: 2.0e+3, other_nu: 0.2, other_radius: 0.4",
    "type: hunt_crossley, stiffness: 900, damping: 0.8",
    "type: kelvin_voigt, stiffness: 800, damping: 40",
};

// With a coefficient at which all points slide on the ways below, one at which all stick, and one between.
static const char *const frictions[] = { "friction: 0.01", "friction: 0.3", "friction: 1.0e+3" };
static const char *const friction_laws[] = {
    "type: linear, stiffness: 800",
    "type: linear, stiffness: 800, tangent_stiffness: 300",
    "type: hertz, stiffness: 900, tangent_ratio: 0.5",
    "type: hertz, E: 3.0e+3, nu: 0.3, radius: 0.2, other_E: 2.0e+3, other_nu: 0.2, other_radius: 0.4",
    "type: hunt_crossley, stiffness: 900, damping: 0.8, tangent_stiffness: 2000",
    "type: kelvin_voigt, stiffness: 800, damping: 40",
};

typedef struct subject {
    text_case c;
    pcs_system *system;
    double q[MOST], v[MOST]; // a state off rest
} subject;

static subject open_subject(const arrangement *a, const char *law, unsigned long long seed, double speed)
{
    subject s = { 0 };
    bool has_changed;
    s.c = text_case_open(a->model, "contacts: { touch: { ", a->contact, ", law: { ", law,
                         " } } }\nscheme: { type: alpha_ggl, rho_inf: 0.9 }\ntime: { step: 1.0e-3, end: 1.0 }\n", NULL);
    s.system = s.c.sim->system;
    CHECK(s.system->nv <= MOST && s.system->nrow == 0 && s.system->ncompliant > 0);
    model_randomize(&seed, s.system->nv, s.q);
    model_randomize(&seed, s.system->nv, s.v);
    for (int i = 0; i < s.system->nv; i++) {
        s.q[i] *= 0.02;
        s.v[i] *= speed;
    }
    CHECK_OK(s.c.ctx, s.system->ops->search(s.system, pcs_at(0.0, s.q, NULL), &has_changed));
    return s;
}

// A contact with friction that has come a way: from an open one if `from` is a displacement that opens it.
static subject open_friction(const arrangement *a, const char *law, const char *friction, unsigned long long seed,
                             const double *from)
{
    char contact[512];
    double q[MOST], increment[MOST];
    snprintf(contact, sizeof contact, "%s, %s", a->contact, friction);
    arrangement has_friction = { a->gap, a->model, contact };
    subject s = open_subject(&has_friction, law, seed, 0.5);
    CHECK(s.system->ncompliant_tangent > 0 && pcs_system_remembers(s.system) && !s.system->has_materials);
    for (int k = 2; k >= 1; k--) {
        for (int i = 0; i < s.system->nv; i++)
            increment[i] = -0.03 * k * k * s.v[i] + (from != NULL && i < 3 ? from[i] : 0.0);
        pcs_retract(&s.system->rotations, s.q, increment, q);
        s.system->ops->commit(s.system, pcs_at(0.0, q, s.v));
    }
    return s;
}

static void check_tangents(const subject *s)
{
    slopes_check(s->system, pcs_at(0.0, s->q, s->v), 1e-5, 1e-7);
}

// f . v + dV/dt + what is lost = 0
static void check_power(const subject *s)
{
    static const double weight[2] = { 8.0 / 12.0, -1.0 / 12.0 };
    double f[MOST], q[MOST], increment[MOST], given = 0.0, stored = 0.0, size = 0.0, h = 1e-4;
    pcs_measure measure;
    s->system->ops->force(s->system, pcs_at(0.0, s->q, s->v), f);
    for (int i = 0; i < s->system->nv; i++) {
        given += f[i] * s->v[i];
        size += fabs(f[i] * s->v[i]);
    }
    for (int k = 1; k <= 2; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < s->system->nv; i++) increment[i] = sign * k * h * s->v[i];
            pcs_retract(&s->system->rotations, s->q, increment, q);
            s->system->ops->measure(s->system, pcs_at(0.0, q, s->v), PCS_ENERGY, &measure);
            stored += sign * weight[k - 1] * measure.strain / h;
        }
    double lost =
        pcs_system_is_damped(s->system) ? pcs_system_damping_power(s->system, pcs_at(0.0, s->q, s->v), s->v) : 0.0;
    CHECK(lost >= 0.0);
    CHECK_NEAR(given + stored + lost, 0.0, 1e-8 * (size + fabs(stored) + lost));
}

static void check_resultant(const subject *s)
{
    double f[MOST], sum[3] = { 0 }, reported[3], size = 0.0;
    const pcs_dofmap *map = pcs_fe_dofmap(s->system);
    s->system->ops->force(s->system, pcs_at(0.0, s->q, s->v), f);
    for (int d = 0; d < map->ndof; d++) {
        const pcs_dof *dof = &map->dof[d];
        if (dof->is_rotation || dof->equation < 0) continue;
        size += fabs(f[dof->equation]);
        for (int k = 0; k < 3; k++) sum[k] += f[dof->equation] * dof->direction[k];
    }
    pcs_system_resultant(s->system, pcs_at(0.0, s->q, s->v), reported);
    CHECK_ALL_NEAR(3, reported, sum, 1e-13 * size);
}

// What is reported of the points, and where they are.
static void check_report(const subject *s)
{
    pcs_row_report rows[8] = { 0 };
    double position[8][3], normal[8][3];
    int npressed = 0;
    CHECK(s->system->ncompliant <= 8);
    pcs_system_press(s->system, pcs_at(0.0, s->q, s->v), rows);
    pcs_system_points(s->system, pcs_at(0.0, s->q, NULL), position, normal);
    for (int i = 0; i < s->system->ncompliant; i++) {
        CHECK(rows[i].force >= 0.0 && rows[i].is_closed == (rows[i].gap <= 0.0));
        npressed += rows[i].force > 0.0;
        if (rows[i].force > 0.0)
            CHECK_NEAR(normal[i][0] * normal[i][0] + normal[i][1] * normal[i][1] + normal[i][2] * normal[i][2], 1.0,
                       1e-14);
    }
    CHECK(npressed > 0);
}

static void check_every(void (*check)(const subject *s), double speed)
{
    for (size_t a = 0; a < sizeof arrangements / sizeof *arrangements; a++)
        for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
            for (unsigned long long seed = 1; seed <= 3; seed++) {
                subject s = open_subject(&arrangements[a], laws[l], seed, speed);
                check(&s);
                text_case_close(&s.c);
            }
}

static void check_friction(void (*check)(const subject *s))
{
    for (size_t a = 0; a < sizeof arrangements / sizeof *arrangements; a++)
        for (size_t l = 0; l < sizeof friction_laws / sizeof *friction_laws; l++)
            for (size_t f = 0; f < sizeof frictions / sizeof *frictions; f++)
                for (unsigned long long seed = 1; seed <= 3; seed++) {
                    subject s = open_friction(&arrangements[a], friction_laws[l], frictions[f], seed, NULL);
                    check(&s);
                    text_case_close(&s.c);
                }
}

TEST(tangents_of_friction_are_slopes_of_the_force)
{
    static const double away[3] = { 0.3, 0.5, 0.6 };
    (void)state;
    check_friction(check_tangents);
    // Of the way of a contact that was open only a part counts.
    for (size_t l = 0; l < sizeof friction_laws / sizeof *friction_laws; l++)
        for (size_t f = 0; f < sizeof frictions / sizeof *frictions; f++) {
            subject s = open_friction(&arrangements[0], friction_laws[l], frictions[f], 1, away);
            check_tangents(&s);
            text_case_close(&s.c);
        }
}

TEST(resultant_has_friction)
{
    check_friction(check_resultant);
}

// No point exceeds mu N, loses less than nothing, or stores what it was not given; some slide and some stick.
TEST(friction_stays_within_its_cone)
{
    int nslide = 0, nstick = 0;
    (void)state;
    for (size_t a = 0; a < sizeof arrangements / sizeof *arrangements; a++)
        for (size_t l = 0; l < sizeof friction_laws / sizeof *friction_laws; l++)
            for (size_t f = 0; f < sizeof frictions / sizeof *frictions; f++) {
                subject s = open_friction(&arrangements[a], friction_laws[l], frictions[f], 1 + a, NULL);
                pcs_row_report rows[8] = { 0 };
                pcs_system_press(s.system, pcs_at(0.0, s.q, s.v), rows);
                for (int i = 0; i < s.system->ncompliant; i++) {
                    double size = hypot(rows[i].last_tangent[0], rows[i].last_tangent[1]);
                    double limit = s.system->rows[i].friction * rows[i].force;
                    CHECK(size <= limit * (1.0 + 1e-14) && rows[i].friction_loss >= 0.0);
                    nslide += limit > 0.0 && size >= limit * (1.0 - 1e-14);
                    nstick += size > 0.0 && size < 0.99 * limit;
                }
                text_case_close(&s.c);
            }
    CHECK(nslide > 50 && nstick > 50);
}

TEST(tangents_are_slopes_of_the_force)
{
    check_every(check_tangents, 0.5);
}

TEST(power_is_stored_or_lost)
{
    check_every(check_power, 0.5);
    check_every(check_power, 5.0); // laws that would pull
}

TEST(resultant_is_the_sum_of_forces)
{
    check_every(check_resultant, 0.5);
}

TEST(points_are_reported)
{
    check_every(check_report, 0.1);
}

// All gap types there are have an arrangement above.
TEST(no_gap_type_is_forgotten)
{
    for (int i = 0; pcs_gap_types[i] != NULL; i++) {
        bool is_found = false;
        for (size_t a = 0; a < sizeof arrangements / sizeof *arrangements; a++)
            is_found = is_found || strcmp(arrangements[a].gap, pcs_gap_types[i]->name) == 0;
        CHECK(is_found);
    }
}
