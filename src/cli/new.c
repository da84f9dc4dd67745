// Cases to start from, with comments: percuss new bar DIR.

#define _POSIX_C_SOURCE 200809L // access

#include "cli/commands.h"
#include "output/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BUFFER = 1 << 14 };

typedef struct template
{
    const char *name, *summary, *text;
}
template;

#define NEW_FOOT \
    "\n"         \
    "# Try: percuss check .    percuss run .    percuss run . --set time.step=1.0e-4    percuss list\n"

static const char new_bar[] =
    "title: An elastic bar strikes a rigid wall\n"
    "\n"
    "# SI units throughout. A steel bar of 0.5 m flies with 3 m/s against a wall at x = 0.\n"
    "mesh:\n"
    "  bar: { type: line, from: [1.0e-4, 0, 0], to: [0.5001, 0, 0], elements: 200 } # sets bar, bar.start, bar.end\n"
    "\n"
    "elements:\n"
    "  bar: { type: rod, mesh: bar, E: 2.1e+11, rho: 7850.0, area: 1.0e-4, mass: consistent }\n"
    "\n"
    "initial:\n"
    "  - { set: bar, velocity: [-3.0, 0, 0] }\n"
    "\n"
    "contacts:\n"
    "  # The normal points from the wall into the room of the bar.\n"
    "  wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0 }\n"
    "\n"
    "# A wave takes 0.5/5172 s = 97 us to run through the bar; contact lasts twice as long.\n"
    "scheme: { type: alpha_ggl, rho_inf: 0.8 } # rho_inf: 1 keeps, 0 kills what is too fast for the step\n"
    "time: { step: 5.0e-7, end: 4.0e-4 }\n"
    "\n"
    "output:\n"
    "  frames: { every: 10 }\n"
    "  history: { every: 1 }\n"
    "  probes:\n"
    "    tip: { node: bar.end, of: [x, vx] }\n" NEW_FOOT;

static const char new_pendulum[] =
    "title: A flexible beam pendulum strikes a stop\n"
    "\n"
    "mesh:\n"
    "  beam: { type: line, from: [0, 0, 0], to: [1.0, 0, 0], elements: 16 }\n"
    "\n"
    "elements:\n"
    "  # A geometrically exact beam: rotations may be large.\n"
    "  beam:\n"
    "    type: beam_exact_2d\n"
    "    mesh: beam\n"
    "    E: 2.1e+11\n"
    "    nu: 0.3\n"
    "    rho: 7800.0\n"
    "    section: { type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333 }\n"
    "\n"
    "joints:\n"
    "  pivot: { type: hinge, node: beam.start }\n"
    "\n"
    "loads:\n"
    "  weight: { type: gravity, g: [0, -9.81, 0] }\n"
    "\n"
    "contacts:\n"
    "  # The tip may not go left of x = 0.7.\n"
    "  stop: { type: node_plane, nodes: beam.end, point: [0.7, 0, 0], normal: [1, 0, 0], restitution: 0.5, friction: "
    "0.2 }\n"
    "\n"
    "scheme: { type: alpha_ggl, rho_inf: 0.65 }\n"
    "time: { step: 5.0e-4, end: 0.6 }\n"
    "\n"
    "output:\n"
    "  frames: { every: 5 }\n"
    "  history: { every: 1 }\n"
    "  probes:\n"
    "    tip: { node: beam.end, of: [x, y, vx, vy] }\n" NEW_FOOT;

static const char new_two_bars[] =
    "title: Two bars collide\n"
    "\n"
    "# The left bar flies at 2 m/s against the right one, which is twice as long and at rest.\n"
    "mesh:\n"
    "  left: { type: line, from: [-0.2001, 0, 0], to: [-1.0e-4, 0, 0], elements: 100 }\n"
    "  right: { type: line, from: [0, 0, 0], to: [0.4, 0, 0], elements: 200 }\n"
    "\n"
    "elements:\n"
    "  left: { type: rod, mesh: left, E: 2.1e+11, rho: 7850.0, area: 1.0e-4 }\n"
    "  right: { type: rod, mesh: right, E: 2.1e+11, rho: 7850.0, area: 1.0e-4 }\n"
    "\n"
    "initial:\n"
    "  - { set: left, velocity: [2.0, 0, 0] }\n"
    "\n"
    "contacts:\n"
    "  meet: { type: node_node, a: left.end, b: right.start, normal: [1, 0, 0], restitution: 0.0 }\n"
    "\n"
    "scheme: { type: alpha_ggl, rho_inf: 0.8 }\n"
    "time: { step: 2.0e-7, end: 3.0e-4 }\n"
    "\n"
    "output:\n"
    "  frames: { every: 20 }\n"
    "  history: { every: 1 }\n"
    "  probes:\n"
    "    left: { node: left.end, of: [x, vx] }\n"
    "    right: { node: right.end, of: [x, vx] }\n" NEW_FOOT;

static const char new_frame[] =
    "title: A frame of beams falls on the floor\n"
    "\n"
    "mesh:\n"
    "  frame:\n"
    "    type: frame\n"
    "    points: { a: [0, 0.02, 0], b: [0.5, 0.02, 0], c: [0.5, 0.52, 0], d: [0, 0.52, 0] }\n"
    "    members: [[a, b], [b, c], [c, d], [d, a]]\n"
    "    elements: 8 # of each member\n"
    "\n"
    "elements:\n"
    "  frame:\n"
    "    type: beam_timo_2d # linear: small rotations\n"
    "    mesh: frame\n"
    "    E: 7.0e+10\n"
    "    nu: 0.33\n"
    "    rho: 2700.0\n"
    "    section: { type: rectangle, width: 0.02, height: 0.02 }\n"
    "\n"
    "loads:\n"
    "  weight: { type: gravity, g: [0, -9.81, 0] }\n"
    "\n"
    "contacts:\n"
    "  floor: { type: node_plane, nodes: frame, point: [0, 0, 0], normal: [0, 1, 0], restitution: 0.3, friction: 0.3 "
    "}\n"
    "\n"
    "scheme: { type: moreau_jean, theta: 0.55 }\n"
    "time: { step: 1.0e-4, end: 0.2 }\n"
    "\n"
    "output:\n"
    "  frames: { every: 10 }\n"
    "  history: { every: 1 }\n"
    "  probes:\n"
    "    corner: { node: frame.c, of: [y, vy] }\n" NEW_FOOT;

static const char new_rotor[] =
    "title: A rotor with a disc in a bearing with clearance\n"
    "\n"
    "# The shaft runs along x at 300 rad/s; its left end may touch a bearing ring of 0.2 mm clearance.\n"
    "mesh:\n"
    "  shaft: { type: line, from: [0, 0, 0], to: [0.6, 0, 0], elements: 12 }\n"
    "  wheel: { type: point, nodes: shaft.start }\n"
    "  drive: { type: point, nodes: shaft.end }\n"
    "\n"
    "elements:\n"
    "  shaft: { type: rotor_beam, mesh: shaft, E: 2.1e+11, nu: 0.3, rho: 7850.0, speed: 300.0, orientation: [0, 1, "
    "0],\n"
    "           section: { type: circle, diameter: 0.02 }, damping: { mass: 5.0, stiffness: 1.0e-6 } }\n"
    "  wheel: { type: disc, mesh: wheel, mass: 1.0, inertia: [0.002, 0.001, 0.001], speed: 300.0 }\n"
    "  drive: { type: mount, mesh: drive, stiffness: [0, 1.0e+7, 1.0e+7], damper: [0, 100.0, 100.0] }\n"
    "\n"
    "supports:\n"
    "  along: { set: shaft, fix: [x, rx] }\n"
    "  clamp: { set: shaft.end, fix: [ry, rz] }\n"
    "\n"
    "loads:\n"
    "  weight: { type: gravity, g: [0, -9.81, 0] }\n"
    "\n"
    "contacts:\n"
    "  bearing: { type: node_circle, nodes: shaft.start, centre: [0, 0, 0], axis: [1, 0, 0], radius: 2.0e-4,\n"
    "             side: inside, restitution: 0.0, friction: 0.1 }\n"
    "\n"
    "scheme: { type: alpha_ggl, rho_inf: 0.8 }\n"
    "time: { step: 2.0e-5, end: 0.1 }\n"
    "\n"
    "output:\n"
    "  frames: { every: 50 }\n"
    "  history: { every: 1 }\n"
    "  probes:\n"
    "    end: { node: shaft.start, of: [uy, uz] }\n" NEW_FOOT;

static const template templates[] = {
    { "bar", "an elastic bar strikes a wall", new_bar },
    { "pendulum", "a flexible beam pendulum with a stop and friction", new_pendulum },
    { "two_bars", "two bars collide", new_two_bars },
    { "frame", "a frame of beams falls on the floor", new_frame },
    { "rotor", "a rotor touches its bearing", new_rotor },
};
enum { NTEMPLATE = sizeof templates / sizeof *templates };

const char *pcs_cli_template(int i)
{
    return i < NTEMPLATE ? templates[i].name : NULL;
}

static int new_list(const char *name)
{
    const char *names[NTEMPLATE + 1] = { NULL };
    for (int i = 0; i < NTEMPLATE; i++) names[i] = pcs_cli_template(i);
    if (name != NULL) return pcs_cli_refuse("new", "there is no case to start from called", name, names);
    for (int i = 0; i < NTEMPLATE; i++) printf("%-10s %s\n", templates[i].name, templates[i].summary);
    return PCS_CLI_DONE;
}

int pcs_cli_new(pcs_context *ctx, const pcs_arguments *a)
{
    char path[4200];
    const template *chosen = NULL;
    for (int i = 0; i < NTEMPLATE; i++)
        if (a->subject != NULL && strcmp(templates[i].name, a->subject) == 0) chosen = &templates[i];
    if (chosen == NULL) return new_list(a->subject);
    const char *directory = a->directory == NULL ? chosen->name : a->directory;
    snprintf(path, sizeof path, "%s/case.yaml", directory);
    if (access(path, F_OK) == 0) return pcs_cli_refuse(a->command, "this file is there already:", path, NULL);
    pcs_file *f = NULL;
    pcs_status status = pcs_file_make_folder(ctx, directory);
    if (status == PCS_OK) status = pcs_file_create(ctx, directory, sizeof "case.yaml", FILE_BUFFER, &f);
    if (status == PCS_OK) status = pcs_file_open(f, "case.yaml");
    if (status == PCS_OK) pcs_file_text(f, chosen->text);
    if (status == PCS_OK) status = pcs_file_commit(f);
    if (status != PCS_OK) return pcs_cli_reject(ctx, PCS_FAILED);
    if (!a->is_quiet) printf("%s\nRun it: percuss run %s\n", path, directory);
    return PCS_CLI_DONE;
}
