"""Models that cannot be: every fault is told with its place in the file and the names in it, exit status 2. Argument:
the path of the program."""

import unittest

import program

SECTION = "section: { type: rectangle, width: 0.1, height: 0.1 }"
LINE = "mesh:\n  beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 }\n"
TWO = """\
mesh:
  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 }
  b: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 2 }
"""
RUN = "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-3, end: 0.01 }\n"
CLAMP = "supports:\n  clamp: { set: beam.start, fix: [x, y, rz] }\n"


def group(kind, mesh="beam", more=""):
    return f"  {mesh}: {{ type: {kind}, mesh: {mesh}, E: 1.0e+6, nu: 0.3, rho: 1000, {SECTION}{more} }}\n"


def beam(kind, more=""):
    return LINE + "elements:\n" + group(kind, more=more)


LINEAR = beam("beam_timo_2d")
EXACT = beam("beam_exact_2d")
SPACE = beam("beam_exact_3d", ", orientation: [0, 0, 1]")
ROD = LINE + "elements:\n  beam: { type: rod_2d, mesh: beam, E: 1, rho: 1, area: 1 }\n"


class BadModels(program.Cases):
    def percuss(self, text, command="check", *options, **wanted):
        self.write("bad.yaml", text)
        return program.percuss(command, "bad.yaml", *options, cwd=self.folder, **wanted)

    def refused(self, text, place, *parts):
        """`place` is what the message says first, line:column: object."""
        result = self.percuss(text + RUN, status=2, stdout="")
        self.assertIn("error: bad.yaml:" + place, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertEqual([line for line in result.stderr.splitlines() if not line.startswith("error: bad.yaml:")], [])

    def test_what_follows_from_another_fault_is_not_told(self):
        push = "loads:\n  push: { type: force, node: beam.end, value: [1, 0, 0], amplitude: %s }\n"
        both = self.percuss(EXACT + push % "{ sine: { frequency: 1 }, ramp: { rise: 1 } }" + RUN)
        self.assertEqual(both.stderr.count("error:"), 1, both.stderr)
        self.assertIn("loads.push.amplitude: 'sine' and 'ramp' are both given", both.stderr)
        absent = self.percuss("system: { length: 1, mass: 2, plugin: ./absent.so }\n" + RUN)
        self.assertEqual(absent.stderr.count("error:"), 1, absent.stderr)
        self.assertIn("bad.yaml:1:39: system.plugin: the plug-in cannot be loaded", absent.stderr)

    def test_a_load_that_is_no_number_is_named(self):
        push = "loads:\n  push: { type: force, node: beam.end, value: [1, 0, 0], amplitude: { expression: %s } }\n"
        weight = "  weight: { type: gravity, g: [0, -9.81, 0] }\n"
        for scheme in (RUN, RUN.replace("alpha_ggl", "newmark").replace("rho_inf: 0.8", "")):
            result = self.percuss(EXACT + CLAMP + push % "sqrt(0.0055-t)" + weight + scheme, "run", "-q", status=1)
            self.assertIn("the load 'push' is no number: its factor 'sqrt(0.0055-t)' is", result.stderr)
            self.assertRegex(result.stderr, "at t = 0.0055[0-9]* s")

    def test_elements_without_length(self):
        point = LINE.replace("[0, 0, 0]", "[1, 0, 0]")
        self.refused(point + "elements:\n" + group("beam_timo_2d"), "2:44: mesh.beam", "no length", "same point")
        nodes = "$Nodes\n1 3 1 3\n1 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n1 0 0\n$EndNodes\n"
        cells = "$Elements\n1 2 1 2\n1 1 1 2\n1 1 2\n2 2 3\n$EndElements\n"
        self.write("zero.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + nodes + cells)
        self.refused("mesh:\n  beam: { type: gmsh, file: zero.msh }\nelements:\n" + group("beam_timo_2d"),
                     "2:9: mesh.beam: zero.msh:18", "element 2 has no length", "nodes 2 and 3", "[1, 0, 0]")

    def test_sections_that_vary_need_a_line_and_fit_everywhere(self):
        broken = TWO + "sets:\n  both: { cells: [b, a] }\nelements:\n"
        rod = "  rod: { type: rod, mesh: both, E: 1, rho: 1, area: { from: 1, to: 2 } }\n"
        self.refused(broken + rod, "7:8: elements.rod: ", "needs cells in a line",
                     "cell 0 of the set 'both' does not begin where cell 3 ends")
        tube = "section: { type: tube, diameter: { from: 0.1, to: 0.05 }, thickness: 0.03 }"
        for kind in ("beam_timo_2d", "beam_exact_2d"):
            text = beam(kind).replace(SECTION, tube)
            self.refused(text, "4:", "elements.beam.section.thickness: at 1 along the line the wall is thicker")
        self.assertEqual(self.percuss(text.replace("0.05", "0.07") + RUN).returncode, 0)

    def test_orientation_along_the_beam(self):
        for kind in ("beam_timo_3d", "beam_exact_3d"):
            self.refused(beam(kind, ", orientation: [2, 0, 0]"), "4:9: elements.beam",
                         "orientation [2, 0, 0] is parallel to cell 0")
        for curvature, why in (("[0.1, 0.2, 0]", "is not square to cell 0"), ("[0, 0, 5]", "cannot be an arc of")):
            self.refused(beam("beam_exact_3d", ", orientation: [0, 1, 0], curvature: " + curvature),
                         "4:9: elements.beam", why)

    def test_sets_that_are_empty(self):
        self.refused(LINEAR + "sets:\n  far: { nodes: beam, box: [[5, 5, 5], [6, 6, 6]] }\n", "6:8: sets.far",
                     "no node lies there", "the nearest, node 2 at [1, 0, 0]")

    def test_parts_that_never_meet(self):
        self.refused(TWO + "merge:\n  corner: { sets: [a.start, b.end] }\nelements:\n" + group("beam_timo_2d", "a") +
                     group("beam_timo_2d", "b"), "5:19: merge.corner", "the nearest is 2 m away")

    def test_loose_models_have_no_equilibrium(self):
        loose = TWO + "elements:\n" + group("beam_timo_2d", "a") + group("beam_timo_2d", "b")
        loose += "supports:\n  clamp: { set: a.start, fix: [x, y, rz] }\n"
        result = self.percuss(loose, "statics", status=2, stdout="")
        self.assertIn("translation along x of part 'b'; translation along y of part 'b'; "
                      "rotation about z through (1.5, 0, 0) of part 'b'", result.stderr)
        pinned = SPACE + "supports:\n  pin: { set: beam.start, fix: [x, y, z] }\n"
        result = self.percuss(pinned, "statics", status=2, stdout="")
        self.assertIn("rotation about x; rotation about y through (0, 0, 0); rotation about z through (0, 0, 0)",
                      result.stderr)
        # Modes are not refused, but named.
        result = self.percuss(loose, "modes", "--count", "4", status=0)
        for name in ("translation along x of part 'b'", "rotation about z through (1.5, 0, 0) of part 'b'"):
            self.assertIn("rigid: " + name, result.stdout)

    def test_joints_that_contradict_or_repeat(self):
        row = "{ type: prescribed, node: beam.end, along: x, table: [[0, 0], [1, %d]] }\n"
        self.refused(EXACT + "joints:\n  one: " + row % 1 + "  two: " + row % 2, "7:8: joints.two", "joint 'one'")
        pin = "{ type: hinge, node: beam.end, at: [1, 0, 0] }\n"
        # What is held twice is shared, and told.
        result = self.percuss(EXACT + CLAMP + "joints:\n  pin: " + pin + "  again: " + pin + RUN, "run", status=0)
        self.assertIn("note: joint 'again' repeats what joint 'pin' holds; their forces are shared", result.stderr)
        self.refused(EXACT + CLAMP + "joints:\n  pin: { type: distance, node: beam.start, anchor: [0, 1, 0] }\n",
                     "8:8: joints.pin", "supports hold already")

    def test_rotations_that_do_not_fit(self):
        self.refused(TWO + "merge:\n  corner: { sets: [a.end, b.start] }\nelements:\n" + group("beam_exact_2d", "a") +
                     group("beam_timo_2d", "b"), "8:6: elements.b", "finite rotations", "cannot share a node")
        self.refused(SPACE + "supports:\n  clamp: { set: beam.start, fix: [x, y, z, rx] }\n"
                     "initial:\n  - { set: beam, rotation: [0.2, 0, 0] }\n",
                     "6:10: supports.clamp", "the initial state does not fit support 'clamp'")
        text = (SPACE + RUN).replace("alpha_ggl, rho_inf: 0.8", "event_driven")
        result = self.percuss(text, status=2)
        self.assertIn("error: bad.yaml:5:9: scheme: scheme 'event_driven'", result.stderr)
        self.assertIn("finite rotations", result.stderr)
        self.assertIn("alpha_ggl", result.stderr)

    def test_loads_that_nothing_takes(self):
        def load(model, text, place, *parts):
            line = model.count("\n") + 2
            self.refused(model + "loads:\n  push: { " + text + " }\n", f"{line}:{place}: loads.push", *parts)

        for kind in ("type: force, value: [1, 0, 0]", "type: moment, value: [0, 0, 1]",
                     "type: torque, value: 1, axis: [0, 0, 1]"):
            load(LINEAR, kind + ", node: beam.end, follower: true", 9, "node 2 has no finite rotation")
        load(EXACT, "type: force, node: beam.end, value: [1, 0, 3], follower: true", 9, "node 2 cannot move along")
        load(LINEAR, "type: force, node: beam.end, value: [1, 0, 3]", 9, "node 2 cannot move along")
        load(LINEAR, "type: moment, node: beam.end, value: [1, 0, 3]", 9, "node 2 cannot rotate about")
        load(LINEAR, "type: line, cells: beam, value: [1, 0, 3]", 9, "cannot move along the line load [1, 0, 3]")
        load(LINEAR + CLAMP, "type: moment, node: beam.start, value: [0, 0, 3]", 9, "held by a support")
        load(EXACT + CLAMP, "type: force, node: beam.start, value: [1, 0, 0], follower: true", 9, "held by a support")
        load(LINEAR, "type: torque, node: beam.end, value: 1, axis: [0, 0, 0]", 57, "the axis has no direction")
        load(LINEAR, "type: line, set: beam, value: [1, 0, 0]", 23, "unknown key 'set'", "missing key 'cells'")
        load(LINEAR, "type: gravity, g: [0, -9, 0], amplitude: { table: [[0, 0]] }", 41, "unknown key 'amplitude'")
        load(LINEAR, "type: force, node: beam.end, value: [1, 0, 0], amplitude: { table: [[1, 0], [0, 1]] }", 88,
             "table[1][0] must be later than the row before (1), is 0")
        spring = TWO + "merge:\n  knot: { sets: [a.end, b.start] }\nelements:\n"
        spring += "  a: { type: rod_2d, mesh: a, E: 1, rho: 1, area: 1 }\n"
        spring += "  b: { type: spring_damper, mesh: b, stiffness: 1, in: plane }\n"
        load(spring, "type: line, cells: b, value: [1, 0, 0]", 9, "of 'b' has no mass to spread a line load over")
        body = "mesh:\n  body: { type: point, at: [0, 0, 0] }\nelements:\n"
        body += "  body: { type: rigid_body_2d, mesh: body, mass: 1, inertia: 1 }\n"
        load(body, "type: line, cells: body, value: [1, 0, 0]", 9, "a single node and has no length")

    def test_contacts_that_supports_hold(self):
        model = LINEAR + "supports:\n  hold: { set: beam.start, fix: [y] }\n"
        line = model.count("\n") + 2
        self.refused(model + "contacts:\n  ring: { type: node_circle, nodes: beam, centre: [0, 1, 0], radius: 3,"
                     " node_radius: 0.1, side: inside, axis: [0, 0, 1], restitution: 0 }\n", f"{line}:9: contacts.ring",
                     "what point 0 could move along its normal is held")

    def test_initial_values_that_nothing_takes(self):
        def initial(model, text, *parts):
            line = model.count("\n") + 2
            self.refused(model + "initial:\n  - { set: beam, " + text + " }\n", f"{line}:", "initial[0]", *parts)

        initial(ROD, "spin: [0, 0, 1]", "node 0 has no rotations", "'about'")
        initial(LINEAR, "spin: [0, 1, 0]", "node 0 cannot have the initial spin [0, 1, 0]")
        initial(LINEAR + CLAMP, "spin: [0, 0, 1], about: [0, 0, 0]", "node 0 is held by a support", "initial spin")
        initial(LINEAR, "velocity: [0, 1, 0], about: [0, 0, 0]", "no spin is given")
        initial(EXACT + CLAMP + "start: statics\n", "rotation: [0, 0, 1]", "equilibrium")
        self.refused(LINEAR + "initial:\n  - { set: beam, spin: [0, 0, 1], about: [0, 0, 0] }\n"
                     "  - { set: beam.end, velocity: [0, 2, 0] }\n", "7:5: initial[1]",
                     "the initial velocity of node 2 is given twice, as 1 and 2")

    def test_bushings_and_mounts_that_do_not_fit(self):
        def body(kind, more):
            inertia = "1" if kind.endswith("2d") else "[1, 1, 1]"
            mesh = "mesh:\n  a: { type: point, at: [0, 0, 0] }\n  b: { type: point, at: [1, 0, 0] }\n"
            mesh += "  s: { type: " + ("point, nodes: b" if "mount" in more else "link, a: a, b: b") + " }\nelements:\n"
            for name in "ab":
                mesh += f"  {name}: {{ type: {kind}, mesh: {name}, mass: 1, inertia: {inertia} }}\n"
            return mesh + "  s: { " + more + " }\n"

        spring = "type: bushing, mesh: s, stiffness: [1, 1, 0], angles: finite, "
        self.refused(body("rigid_body_2d", spring + "offset_a: [1, 1, 0], offset_b: [0, 2, 0]"), "8:6: elements.s",
                     "lead to points that are 1 m apart", "give one of them")
        self.refused(body("rigid_body_2d", spring + "offset_a: [1, 1, 2], in: plane"), "8:95: elements.s",
                     "no offset points out of it")
        self.refused(body("rigid_body_3d", spring + "offset_b: [0, 2, 0]"), "8:6: elements.s",
                     "rotates node 0 by an angle in the plane", "see 'in'")
        self.refused(body("rigid_body_2d", spring + "offset_b: [0, 2, 0], in: space"), "6:6: elements.a",
                     "rotates node 0 by an angle in the plane")
        self.refused(body("rigid_body_3d", "type: mount, mesh: s, stiffness: [1, 1, 1], offset: [0, 1, 0]"),
                     "8:6: elements.s", "finite rotations", "cannot share a node")
        self.refused(body("rigid_body_3d", "type: mount, mesh: s, stiffness: [1, 1, 1], offset: [0, 1]"),
                     "8:60: elements.s.offset")
        self.refused(body("rigid_body_3d", "type: mount, mesh: s, stiffness: [1, 1, 1], offset_b: [0, 1, 0]"),
                     "8:52: elements.s", "unknown key 'offset_b'")


unittest.main()
