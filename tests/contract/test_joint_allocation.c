// Joints and reactions take their memory at the start: whichever allocation fails there is reported, and steps take
// none.

#include "support/alloc_fault.h"
#include "support/check.h"
#include "support/text_case.h"

#include <stdio.h>
#include <string.h>

static const char model[] =
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [0.6, 0, 0.2] },\n"
    "        rim: { type: point, at: [[0.5, 0.1, 0], [0.5, 0, 0.1]] }, bob: { type: point, at: [3, 0, 0] },\n"
    "        beam: { type: line, from: [3, 0, 0], to: [4, 0, 0], elements: 3 } }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 2, inertia: [0.1, 0.2, 0.15] },\n"
    "            two: { type: rigid_body_3d, mesh: two, mass: 0.3, inertia: [0.005, 0.003, 0.004] },\n"
    "            rim: { type: point_mass, mesh: rim, mass: 0.2 }, bob: { type: point_mass, mesh: bob, mass: 1 },\n"
    "            beam: { type: beam_exact_3d, mesh: beam, E: 1.0e+9, nu: 0.3, rho: 1000, orientation: [0, 0, 1],\n"
    "                    section: { type: rectangle, width: 0.02, height: 0.03 } } }\n"
    "supports: { wall: { set: beam.end, fix: [x, y, z, rx, ry, rz], reactions: true } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0], axis: [0.1, 0.2, 1] },\n"
    "          guide: { type: slider, a: one, b: two, axis: [1, 0.5, 0] }, link: { type: rigid_link, a: one, nodes: "
    "rim },\n"
    "          rope: { type: distance, a: one, b: bob }, hook: { type: ball, a: bob, b: beam.start },\n"
    "          shake: { type: prescribed, node: bob, along: z, amplitude: 0.01, frequency: 3, rise: 0.1 } }\n"
    "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
    "time: { step: 1.0e-3, end: 0.2 }\n";

static void open_model(const char *scheme, text_case *c, pcs_status *status)
{
    char text[4096];
    snprintf(text, sizeof text, "%sscheme: { type: %s }\n", model, scheme);
    *status = text_case_try(text, c);
}

TEST(steps_with_joints_do_not_allocate)
{
    const char *const schemes[] = { "alpha_ggl", "moreau_jean, theta: 0.6", "alpha_velocity" };
    if (!alloc_fault_is_active()) skip();
    for (int s = 0; s < 3; s++) {
        text_case c;
        pcs_status status;
        open_model(schemes[s], &c, &status);
        if (status != PCS_OK) fail_msg("%s", pcs_message(c.ctx));
        text_case_step(&c);
        alloc_fault_arm(0, false);
        long before = alloc_fault_live();
        for (int i = 0; i < 100; i++) text_case_step(&c);
        long requests = alloc_fault_requests(), growth = alloc_fault_live() - before;
        CHECK(growth == 0);
        CHECK(requests == 0);
        CHECK(c.sim->reactions[text_case_reaction(&c, "wall")].force[1] != 0.0);
        text_case_close(&c);
    }
}

TEST(every_failing_allocation_is_reported)
{
    if (!alloc_fault_is_active()) skip();
    long before = alloc_fault_live();
    for (long n = 1;; n++) {
        text_case c;
        pcs_status status = PCS_OK;
        char text[4096];
        snprintf(text, sizeof text, "%sscheme: { type: alpha_ggl }\n", model);
        c = (text_case){ 0 };
        assert_int_equal(pcs_context_create(&c.ctx), PCS_OK);
        alloc_fault_arm(n, false);
        status = text_case_build(text, &c);
        if (status == PCS_OK) status = pcs_sim_start(c.sim);
        bool has_struck = alloc_fault_requests() >= n;
        alloc_fault_arm(0, false);
        if (status != PCS_OK && pcs_message(c.ctx)[0] == '\0') fail_msg("allocation %ld fails without a message", n);
        text_case_close(&c);
        if (alloc_fault_live() != before) fail_msg("allocation %ld failing leaks", n);
        if (!has_struck) {
            CHECK(n > 200);
            break;
        }
    }
}
