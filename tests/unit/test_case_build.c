// Wrong cases: each is the same good case with one change, and must give one error with its exact place.

#include "build/build.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

static const char good[] =
    "title: Bars\n"                                                                                           // 1
    "mesh:\n"                                                                                                 // 2
    "  bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 4 }\n"                                    // 3
    "  rod: { type: line, from: [3, 0, 0], to: [4, 0, 0], elements: 4 }\n"                                    // 4
    "elements:\n"                                                                                             // 5
    "  bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 }\n"                                        // 6
    "  rod: { type: rod, mesh: rod, E: 900.0, rho: 1.0, area: 1.0, damping: { mass: 0.1 } }\n"                // 7
    "supports:\n"                                                                                             // 8
    "  hold: { set: rod.end, fix: [x] }\n"                                                                    // 9
    "initial:\n"                                                                                              // 10
    "  - { set: bar, velocity: [-1.0, 0, 0] }\n"                                                              // 11
    "  - { set: rod.start, displacement: { from: [0, 0, 0], to: [0, 0, 0] } }\n"                              // 12
    "loads:\n"                                                                                                // 13
    "  weight: { type: gravity, g: [-9.81, 0, 0] }\n"                                                         // 14
    "  push: { type: force, node: bar.end, value: [1, 0, 0], amplitude: { table: [[0, 1], [1, 0]] } }\n"      // 15
    "contacts:\n"                                                                                             // 16
    "  wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.5 }\n" // 17
    "  pair: { type: node_node, a: bar.end, b: rod.start, normal: [1, 0, 0], restitution: 0.5 }\n"            // 18
    "scheme: { type: half_explicit }\n"                                                                       // 19
    "solver: { type: condensed, linear: auto }\n"                                                             // 20
    "time: { step: 1.0e-3, end: 0.1 }\n"                                                                      // 21
    "certify: strict\n"                                                                                       // 22
    "output:\n"                                                                                               // 23
    "  frames: { every: 2 }\n"                                                                                // 24
    "  history: { every: 1 }\n"                                                                               // 25
    "  probes:\n"                                                                                             // 26
    "    tip: { node: bar.end, of: [x, vx] }\n"                                                               // 27
    "    mid: { element: bar, item: 2, of: [stress] }\n";                                                     // 28

typedef struct change {
    const char *old, *new; // the first place of `old` becomes `new`
    const char *message;   // number of errors if not one, then how the report begins; "...": the rest of a list
} change;

static const change changes[] = {
    // The mesh
    { "mesh:\n  bar", "mseh:\n  bar",
      "2f:1:1: missing key 'mesh' (parts of the mesh by name)\nf:2:1: unknown key 'mseh', did you mean 'mesh'?" },
    { "mesh:\n", "mesh: {}\nx:\n",
      "2f:2:7: mesh is empty, needs parts of the mesh by name\nf:3:1: unknown key 'x', allowed: parameters, include, "
      "system, mesh," },
    { "type: line", "type: lines", "f:3:16: mesh.bar.type must be one of ..., is 'lines', did you mean 'line'?" },
    { "from: [1, 0, 0]", "from: [1, 0]",
      "f:3:28: mesh.bar.from must be a list of 3 numbers [x, y, z], is a list of 2" },
    { "from: [1, 0, 0], ", "", "f:3:8: mesh.bar: missing key 'from' (position of the first node, m)" },
    { "from: [1, 0, 0]", "from: [2, 0, 0]", "f:3:43: mesh.bar: the line has no length" },
    { "elements: 4", "elements: 0", "f:3:64: mesh.bar.elements must be in [1, 268435456], is 0" },
    { "elements: 4", "elements: 9999999999", "f:3:64: mesh.bar.elements must be in [1, 268435456], is 9999999999" },
    { "elements: 4", "elements: 4, element: 4",
      "f:3:67: mesh.bar: unknown key 'element', did you mean 'elements'? allowed: type, cells, from, to, elements" },
    { "  bar: { type: line", "  b.r: { type: line", "8f:3:3: a name must start with a letter" },
    { "  rod: { type: line", "  bar: { type: line", "5f:4:3: duplicate key 'bar', first given at 3:3" },
    { "  bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 4 }", "  bar: 5",
      "f:3:8: mesh.bar must be a map { key: value }, is '5'" },
    { "  rod: { type: rod, mesh: rod", "  rod: { type: rod, mesh: rod.start",
      "f:4:8: mesh.rod has 3 of 4 cells without elements" },
    // Elements
    { "elements:\n  bar", "elems:\n  bar",
      "2f:1:1: missing key 'elements' (element groups by name)\nf:5:1: unknown key 'elems'" },
    { "mesh: bar", "mesh: bra",
      "f:6:27: elements.bar.mesh must name a set of cells, is 'bra', did you mean 'bar'? there are: bar, bar.start, "
      "bar.end, rod, rod.start, rod.end" },
    { "mesh: rod", "mesh: bar",
      "2f:4:8: mesh.rod has 4 of 4 cells without elements: no group under 'elements' names them\nf:7:27: elements.rod: "
      "cells of 'bar' have elements already, of group 'bar'" },
    { "area: 1.0", "area: { from: 1.0 }",
      "f:6:58: elements.bar.area: missing key 'to' (the value where the line ends)" },
    { "area: 1.0", "area: { from: 1.0, to: -2.0 }", "f:6:75: elements.bar.area.to must be > 0, is -2.0" },
    { "area: 1.0", "area: { table: [[0, 1], [0.5, 2]] }",
      "f:6:58: elements.bar.area: the table of 'area' must go to the end of the line at 1, goes to 0.5" },
    { "area: 1.0", "area: { table: [[0, 1], [0, 2]] }",
      "f:6:77: elements.bar.area.table[1][0] must be beyond the row before (0), is 0" },
    { "area: 1.0", "area: { table: [[0.1, 1], [1, 2]] }",
      "f:6:69: elements.bar.area.table[0][0] must be 0, where the line begins, is 0.1" },
    { "area: 1.0", "area: { to: 2.0 }",
      "f:6:58: elements.bar.area: missing key 'from' (the value where the line begins)" },
    { "area: 1.0", "area: { table: [[0, 1]] }", "f:6:67: elements.bar.area.table must be at least two rows" },
    { "area: 1.0", "area: { steps: [[0, 1], [1, 2]] }",
      "f:6:58: elements.bar.area: the last step of 'area' at 1 lies beyond the end of the line, which is 1 long" },
    { "area: 1.0", "area: { steps: [[0, 1], [0.5, 2]], from: 1 }",
      "f:6:67: elements.bar.area: 'from' and 'steps' are both given, only one is allowed" },
    { "area: 1.0", "area: {}", "f:6:58: elements.bar.area: missing key 'from', 'table' or 'steps'" },
    { "area: 1.0", "area: [1, 2]", "f:6:58: elements.bar.area must be a number > 0, is a list" },
    { "E: 900.0", "E: -2.1e11", "f:6:35: elements.bar.E must be > 0, is -2.1e11" },
    { "E: 900.0, ", "", "f:6:8: elements.bar: missing key 'E' (Young's modulus, N/m^2)" },
    { "area: 1.0 }", "area: 1.0, mass: lumpd }",
      "f:6:69: elements.bar.mass must be one of consistent, lumped, one_point, tuned, auto, is 'lumpd', did you mean "
      "'lumped'?" },
    { "damping: { mass: 0.1 }", "damping: { mass: -0.1 }", "f:7:80: elements.rod.damping.mass must be >= 0, is -0.1" },
    { "damping: { mass: 0.1 }", "damping: { mas: 0.1 }",
      "f:7:74: elements.rod.damping: unknown key 'mas', did you mean 'mass'? allowed: mass, stiffness" },
    // Supports
    { "fix: [x]", "fix: [q]", "f:9:31: supports.hold.fix[0] must be one of x, y, z, rx, ry, rz, is 'q'" },
    { "fix: [x]", "fix: [x, x]", "f:9:34: supports.hold.fix[1] gives 'x' twice" },
    { "fix: [x]", "fix: []", "f:9:30: supports.hold.fix is empty" },
    { ", fix: [x]", "", "f:9:9: supports.hold: missing key 'fix'" },
    { "fix: [x]", "fix: [y]", "f:9:9: supports.hold: " },
    // Initial values
    { "initial:\n  - {", "initial:\n    {", "f:12:3: not valid YAML" },
    { "initial:\n  - { set: bar, velocity: [-1.0, 0, 0] }\n  - { set: rod.start, displacement: { from: [0, 0, 0], to: "
      "[0, 0, 0] } }",
      "initial: { set: bar }", "f:10:10: initial must be a list [...], is a map" },
    { "set: bar, velocity: [-1.0, 0, 0]", "set: bar",
      "f:11:5: initial[0]: missing key 'displacement', 'velocity', 'rotation' or 'spin'" },
    { "velocity: [-1.0, 0, 0]", "velocity: [-1.0, 0, oops]",
      "f:11:37: initial[0].velocity[2]: in 'oops': unknown name 'oops', did you mean 'cos'? known are: x, y, z, " },
    { "velocity: [-1.0, 0, 0]", "velocity: [0, 1, 0]", "f:11:5: initial[0]: node 0 cannot have the initial velocity" },
    { "from: [0, 0, 0], to: [0, 0, 0]", "from: [0, 0, 0]", "f:12:37: initial[1].displacement: missing key 'to'" },
    { "displacement: { from: [0", "displacement: { from: [-5",
      "f:18:9: contacts.pair: the gap of point 0 is -4 m at t = 0, must be >= 0: node 5 at (3, 0, 0); reversing the "
      "normal would remove the overlap" },
    // Loads
    { ", g: [-9.81, 0, 0]", "", "f:14:11: loads.weight: missing key 'g' (acceleration of gravity, m/s^2)" },
    { "node: bar.end, value", "node: bar, value",
      "f:15:30: loads.push.node must name a single node, the set 'bar' has 5" },
    { "node: bar.end, value", "value", "f:15:9: loads.push: missing key 'node' or 'set'" },
    { "node: bar.end, value", "node: bar.end, set: bar, value",
      "f:15:44: loads.push: 'node' and 'set' are both given, only one is allowed" },
    { "value: [1, 0, 0]", "value: [0, 1, 0]", "f:15:9: loads.push: " },
    { "[[0, 1], [1, 0]]", "[[0, 1], [0, 0]]",
      "f:15:87: loads.push.amplitude.table[1][0] must be later than the row before (0), is 0" },
    { "[[0, 1], [1, 0]]", "[[0, 1], [1]]",
      "f:15:86: loads.push.amplitude.table[1] must be a list of 2 numbers like the first row" },
    { "[[0, 1], [1, 0]]", "[0, 1]",
      "f:15:77: loads.push.amplitude.table must be a list of rows [time, factor], is a list" },
    { "[[0, 1], [1, 0]]", "[]",
      "f:15:77: loads.push.amplitude.table must be a list of numbers or of rows of numbers, is an empty list" },
    { "{ table: [[0, 1], [1, 0]] }", "{ sine: { frequency: -1 } }",
      "f:15:89: loads.push.amplitude.sine.frequency must be >= 0, is -1" },
    { "{ table: [[0, 1], [1, 0]] }", "{ pulse: { duration: 1, shape: sine } }",
      "f:15:99: loads.push.amplitude.pulse.shape must be one of rectangle, half_sine, is 'sine'" },
    { "{ table: [[0, 1], [1, 0]] }", "{ expression: sin(2*pi*x) }",
      "f:15:91: loads.push.amplitude.expression: in 'sin(2*pi*x)': unknown name 'x', known are: t, sqrt" },
    { "{ table: [[0, 1], [1, 0]] }", "{ expression: 1/t }",
      "f:15:82: loads.push.amplitude.expression must be a finite number at t = 0, is inf" },
    { "{ table: [[0, 1], [1, 0]] }", "{ csv: no.csv }",
      "f:15:75: loads.push.amplitude.csv: cannot open the table 'no.csv'" },
    { "{ table: [[0, 1], [1, 0]] }", "{ table: [[0, 1]], csv: no.csv }",
      "f:15:92: loads.push.amplitude: 'table' and 'csv' are both given, only one is allowed" },
    { "{ table: [[0, 1], [1, 0]] }", "{ tabel: [[0, 1]] }", "2f:15:68: loads.push.amplitude: missing key 'table'" },
    // Contacts
    { "nodes: bar.start", "nodes: { a: 1 }", "f:17:36: contacts.wall.nodes must be a text, is a map" },
    { "restitution: 0.5", "restitution: 1.5", "f:17:97: contacts.wall.restitution must be in [0, 1], is 1.5" },
    { ", restitution: 0.5", "", "f:17:9: contacts.wall: missing key 'restitution'" },
    { "normal: [1, 0, 0], restitution", "normal: [0, 0, 0], restitution",
      "f:17:73: contacts.wall: the normal has no direction; normal is [0, 0, 0]" },
    { "normal: [1, 0, 0], restitution", "normal: [0, 1, 0], restitution",
      "f:17:9: contacts.wall: node 0 cannot move along the normal [0, 1, 0]" },
    { "a: bar.end", "a: bar", "f:18:9: contacts.pair: set 'bar' has 5 nodes and set 'rod.start' has 1" },
    { "point: [0, 0, 0]", "point: [1.5, 0, 0]",
      "f:17:9: contacts.wall: the gap of point 0 is -0.5 m at t = 0, must be >= 0: node 0 at (1, 0, 0); reversing the "
      "normal would remove the overlap" },
    { "nodes: bar.start, point: [0, 0, 0]", "nodes: bar, point: [1.4, 0, 0]",
      "f:17:9: contacts.wall: the gap of point 0 is -0.4 m at t = 0, must be >= 0: node 0 at (1, 0, 0), the deepest of "
      "2 points; reversing the normal would not remove it" },
    { "point: [0, 0, 0]", "node_radius: 0.3, point: [1.5, 0, 0]",
      "f:17:9: contacts.wall: the gap of point 0 is -0.8 m at t = 0, must be >= 0: node 0 at (1, 0, 0); reversing the "
      "normal would remove the overlap" },
    { "normal: [1, 0, 0], restitution: 0.5 }\n  pair", "normal: [-1, 0, 0], restitution: 0.5 }\n  pair",
      "f:17:9: contacts.wall: the gap of point 0 is -1 m at t = 0, must be >= 0: node 0 at (1, 0, 0); reversing the "
      "normal would remove the overlap" },
    // Fields over place and time
    { "history: { every: 1 }", "waves: { body: bra, of: [vx] }",
      "f:25:18: output.waves.body must name a set of cells, is 'bra', did you mean 'bar'?" },
    { "history: { every: 1 }", "waves: { body: bar, of: [stress, vq] }",
      "f:25:36: output.waves.of[1]: there is no field 'vq' over a body: there are ux, uy, uz, vx, vy, vz, "
      "axial_force" },
    { "frames: { every: 2 }", "frames: { every: 10, fields: [stress, foo] }",
      "f:24:41: output.frames.fields[1]: the model has no 'foo'; it has displacement, velocity, axial_force, stress" },
    { "frames: { every: 2 }", "frames: { fields: foo }", "f:24:21: output.frames.fields: the model has no 'foo'" },
    { "history: { every: 1 }", "summary: { open_time: -1 }", "f:25:25: output.summary.open_time must be >= 0, is -1" },
    // Scheme, solver, time
    { "type: half_explicit", "type: half_explict",
      "f:19:17: scheme.type must be one of ..., is 'half_explict', did you mean 'half_explicit'?" },
    { "{ type: half_explicit }", "{ type: half_explicit, rho_inf: 1 }",
      "f:19:32: scheme: unknown key 'rho_inf', allowed: type, impulsive_step" },
    { "{ type: half_explicit }", "{ type: alpha_ggl, rho_inf: 2 }", "f:19:37: scheme.rho_inf must be in [0, 1" },
    { "{ type: half_explicit }", "{ type: moreau_jean, theta: 0.5, rho_inf: 1 }",
      "f:19:37: scheme: theta and rho_inf" },
    { "scheme:", "schema:",
      "2f:1:1: missing key 'scheme' (the time integrator)\nf:19:1: unknown key 'schema', did you mean 'scheme'?" },
    { "linear: auto", "linear: cholmodd",
      "f:20:36: solver.linear must be one of auto, ..., is 'cholmodd', did you mean 'cholmod'?" },
    { "step: 1.0e-3", "step: 0", "f:21:15: time.step must be > 0, is 0" },
    { "step: 1.0e-3", "step: atuo",
      "f:21:15: time.step must be a number > 0 or auto, is 'atuo', did you mean 'auto'?" },
    { "step: 1.0e-3, ", "", "f:21:7: time: missing key 'step'" },
    { "end: 0.1", "end: 1.0e-4", "f:21:28: time: end must be >= step, is 0.0001 with a step of 0.001" },
    { "end: 0.1", "end: 1.0e+10", "f:21:15: time: 1e+13 steps are more than 1e+12" },
    { "step: 1.0e-3", "step: 0.01", "f:21:15: time: step 0.01 is above the stable step " },
    { "end: 0.1", "end: 0.1, allow_unstable: yes", "f:21:49: time.allow_unstable must be true or false, is 'yes'" },
    { "time:", "clock:", "2f:1:1: missing key 'time' (step size and end of the run)\nf:21:1: unknown key 'clock'" },
    { "certify: strict", "certify: no", "f:22:10: certify must be one of strict, warn, is 'no'" },
    // Output
    { "frames: { every: 2 }", "frames: true",
      "f:24:11: output.frames must be a map of options, {} for the defaults, or false for none, is 'true'" },
    { "frames: { every: 2 }", "frame: { every: 2 }",
      "f:24:3: output: unknown key 'frame', did you mean 'frames'? allowed: frames, ..., probes" },
    { "of: [x, vx]", "of: [x, x]", "f:27:35: output.probes.tip.of[1] gives 'x' twice" },
    { "of: [x, vx]", "of: [x, vq]", "f:27:35: output.probes.tip.of[1]: a node has no component 'vq'" },
    { "of: [x, vx]", "of: []", "f:27:31: output.probes.tip.of is empty" },
    { "node: bar.end, of", "of", "f:27:10: output.probes.tip: missing key 'node', 'set', 'element' or 'body'" },
    { "node: bar.end, of", "node: bar.end, set: bar, of",
      "f:27:32: output.probes.tip: 'node' and 'set' are both given, only one is allowed" },
    { "item: 2", "item: 4", "f:28:32: output.probes.mid: item must be in [0, 3], the set 'bar' has 4, is 4" },
    { "of: [stress]", "of: [stres]", "f:28:40: output.probes.mid.of[0]: " },
    // The rest
    { "title: Bars", "title: []", "f:1:8: title must be a text, is an empty list" },
    { "title: Bars", "title: Bars\nsystem: { type: ball }",
      "9f:4:3: 'system' and 'mesh' are both given, only one is allowed" },
};

static char *replaced(const char *old, const char *new, char *text, size_t size)
{
    const char *place = strstr(good, old);
    CHECK(place != NULL);
    int head = (int)(place - good);
    int length = snprintf(text, size, "%.*s%s%s", head, good, new, place + strlen(old));
    CHECK(length > 0 && (size_t)length < size);
    return text;
}

static bool begins_with(const char *message, const char *wanted)
{
    const char *gap = strstr(wanted, "...");
    if (gap == NULL) return strncmp(message, wanted, strlen(wanted)) == 0;
    size_t head = (size_t)(gap - wanted);
    return strncmp(message, wanted, head) == 0 && strstr(message + head, gap + 3) != NULL;
}

static pcs_status build(pcs_context *ctx, const char *text, pcs_sim **sim)
{
    pcs_case *c = NULL;
    *sim = NULL;
    PCS_TRY(pcs_case_parse(ctx, "f", text, strlen(text), &c));
    return pcs_build_sim_of(ctx, &(pcs_source){ .loaded = c }, sim);
}

TEST(each_wrong_case_gives_its_errors)
{
    CHECK(sizeof changes / sizeof *changes >= 60);
    int nwrong = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const change *x = &changes[i];
        char text[8192];
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        pcs_status status = build(ctx, replaced(x->old, x->new, text, sizeof text), &sim);
        const char *message = pcs_message(ctx);
        int lines = 1;
        for (const char *p = message; *p != '\0'; p++) lines += *p == '\n';
        int count = x->message[0] == 'f' ? 1 : x->message[0] - '0';
        const char *begin = x->message + (x->message[0] != 'f');
        bool is_right = status == PCS_BAD_INPUT && begins_with(message, begin) && lines == count;
        if (!is_right)
            print_message("'%s' -> '%s' gives %d:\n%s\nwanted: %s\n", x->old, x->new, (int)status, message, x->message);
        pcs_context_destroy(&ctx);
        nwrong += !is_right;
    }
    CHECK(nwrong == 0);
}

TEST_WITH_CONTEXT(options_reach_the_model)
{
    char text[8192];
    pcs_context *ctx = *state;
    pcs_sim *sim = NULL;
    CHECK_OK(ctx,
             build(ctx, replaced("damping: { mass: 0.1 }", "damping: { stiffness: 1.0e-4 }", text, sizeof text), &sim));
    CHECK(pcs_system_is_damped(sim->system));
    CHECK(!sim->system->contacts[0].writes_points);
    // The force on the last node of the first bar, halfway between the factors 1 and 0.
    const double from[9] = { 0 }, to[9] = { [4] = 1.0 };
    CHECK_NEAR(sim->system->ops->load_work(sim->system, 0.5, from, to), 0.5, 1e-15);
    CHECK_OK(ctx, build(ctx, replaced("damping: { mass: 0.1 }", "damping: {}", text, sizeof text), &sim));
    CHECK(!pcs_system_is_damped(sim->system));
    CHECK_OK(ctx, build(ctx, replaced("restitution: 0.5", "restitution: 0.5, points: all", text, sizeof text), &sim));
    CHECK(sim->system->contacts[0].writes_points && !sim->system->contacts[1].writes_points);
    CHECK_OK(ctx, build(ctx, replaced("certify: strict", "certify: warn", text, sizeof text), &sim));
    CHECK(sim->certify_warns);
}

TEST_WITH_CONTEXT(errors_of_different_sections_come_together)
{
    char text[8192];
    replaced("elements: 4", "elements: x", text, sizeof text);
    char *scheme = strstr(text, "half_explicit"), *time = strstr(text, "1.0e-3");
    scheme[0] = 'q';
    time[0] = '-';
    pcs_context *ctx = *state;
    pcs_sim *sim = NULL;
    CHECK(build(ctx, text, &sim) == PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(ctx), "f:3:64: mesh.bar.elements must be a whole number in [1, ");
    CHECK_TEXT(pcs_message(ctx), "\nf:19:17: scheme.type must be one of");
    CHECK_TEXT(pcs_message(ctx), "\nf:21:15: time.step must be > 0, is -.0e-3");
    CHECK(strstr(pcs_message(ctx), "must name a set") == NULL); // sets of a broken part are not judged
}

// Steps as the clock counts them, and the step that `auto` chooses.
TEST(the_clock_counts_steps)
{
    static const struct {
        const char *time;
        long nstep;
    } table[] = {
        { "step: 1.0e-3, end: 0.1", 100 },
        { "step: 1.0e-3, end: 0.1005", 101 },
        { "step: 3.0e-3, end: 0.1", 34 },
        { "step: 1.0e-3, end: 1.0e-3", 1 },
        { "step: 1.0e-3, end: 0.10000000001", 100 },
        { "step: 1.0e-3, end: 0.1000001", 101 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[8192];
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        CHECK_OK(ctx, build(ctx, replaced("step: 1.0e-3, end: 0.1", table[i].time, text, sizeof text), &sim));
        CHECK(sim->nstep == table[i].nstep);
        pcs_context_destroy(&ctx);
    }
}

TEST(auto_takes_nine_tenths_of_the_stable_step_or_what_waves_need)
{
    char text[8192];
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    CHECK_OK(ctx, build(ctx, replaced("step: 1.0e-3", "step: auto", text, sizeof text), &sim));
    CHECK(sim->step_size == 0.9 * sim->system->stable_step);
    // Two-node rods of 0.25 m, wave speed 30 m/s, consistent mass: l / (c sqrt 3), a little less with damping.
    CHECK_NEAR(sim->system->stable_step, 0.25 / 30.0 / 1.7320508075688772, 1e-5);
    // The resolved case holds the number that was used.
    pcs_yaml *time = pcs_case_get(sim->input, pcs_case_root(sim->input), "time");
    CHECK(pcs_case_number(sim->input, pcs_case_get(sim->input, time, "step"), (pcs_range)PCS_POSITIVE) ==
          sim->step_size);
    pcs_context_destroy(&ctx);

    // Implicit schemes take 250 steps in the time of a wave over 1 m.
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    replaced("step: 1.0e-3", "step: auto", text, sizeof text);
    memcpy(strstr(text, "half_explicit"), "alpha_ggl    ", 13);
    CHECK_OK(ctx, build(ctx, text, &sim));
    CHECK_NEAR(sim->step_size, 1.0 / 30.0 / 250.0, 1e-12);
    CHECK_TEXT(pcs_case_notes(sim->input), "250 steps in 0.03333 s, L/c of");
    pcs_context_destroy(&ctx);
}

// Builds the good case with one change and gives its simulation.
static pcs_sim *build_changed(pcs_context **ctx, const char *set)
{
    pcs_case *c = NULL;
    pcs_sim *sim = NULL;
    CHECK(pcs_context_create(ctx) == PCS_OK);
    CHECK_OK(*ctx, pcs_case_parse(*ctx, "f", good, strlen(good), &c));
    CHECK_OK(*ctx, pcs_case_set(c, "time.allow_unstable=true"));
    CHECK_OK(*ctx, pcs_case_set(c, "solver.type=newton"));
    if (set != NULL) CHECK_OK(*ctx, pcs_case_set(c, set));
    CHECK_OK(*ctx, pcs_build_sim_of(*ctx, &(pcs_source){ .loaded = c }, &sim));
    return sim;
}

TEST(values_of_other_units_are_asked_about)
{
    static const struct {
        const char *set;
        bool is_asked;
    } groups[] = {
        { NULL, false },
        { "elements.rod={type: rod, mesh: rod, E: 210, rho: 7850, area: 1}", true },
        { "elements.rod={type: rod, mesh: rod, E: 2.1e5, rho: 7850, area: 1}", true },
        { "elements.rod={type: rod, mesh: rod, E: 2.1e11, rho: 7850, area: 1}", false },
        { "elements.rod={type: rod, mesh: rod, E: 2.1e5, rho: 7.85e-9, area: 1}", false },
        { "elements.rod={type: rod, mesh: rod, E: 1e5, rho: 1000, area: 1}", false },
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        pcs_context *ctx;
        const pcs_sim *sim = build_changed(&ctx, groups[i].set);
        if ((sim->view.question != NULL) != groups[i].is_asked)
            fail_msg("%s: %s", groups[i].set, groups[i].is_asked ? "not asked" : sim->view.question);
        pcs_context_destroy(&ctx);
    }
}

static void check_description(const char *set, const char *expected)
{
    pcs_context *ctx;
    char text[256];
    pcs_describe_sim(build_changed(&ctx, set), sizeof text, text);
    assert_string_equal(text, expected);
    pcs_context_destroy(&ctx);
}

TEST_WITH_CONTEXT(joints_are_counted_as_joints)
{
    check_description(NULL, "9 dofs, 2 contact points, half_explicit, 100 steps of 0.001 s");
    check_description("joints={glue: {type: ball, node: rod.start}}",
                      "9 dofs, 2 contact points, 1 joint of 1 condition, half_explicit, 100 steps of 0.001 s");
    check_description("time={step: 1e-3, end: 0.1, control: {type: adaptive, tolerance: 1e-4}}",
                      "9 dofs, 2 contact points, half_explicit, steps of controlled size");
    pcs_context *ctx = *state;
    pcs_sim *sim = NULL;
    char text[256];
    CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/pendulum", 0, NULL, &sim));
    pcs_describe_sim(sim, sizeof text, text); // a closed form: its pivot is a joint, too
    assert_string_equal(text, "3 dofs, 1 contact point, 1 joint of 2 conditions, alpha_ggl, 6000 steps of 0.001 s");
}
