"""What stands in results: columns and sums of history.csv, contacts in the summary as its rows say, frames that are
asked for, rows of waves, progress, and what a disk leaves that is full. Argument: the program."""

import json
import math
import os
import re
import resource
import time
import unittest

import program
from program import read_bytes

BAR = """
mesh: {{ bar: {{ type: line, from: [{gap}, 0, 0], to: [1.0, 0, 0], elements: 3 }} }}
elements: {{ bar: {{ type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 }} }}
initial: [ {{ set: bar, velocity: [-1, 0, 0] }} ]
contacts: {{ {contacts} }}
scheme: {{ type: moreau_jean, theta: 0.6 }}
time: {{ step: 1.0e-3, end: {end} }}
output: {{ {output} }}
"""
WALL = "{ type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 }"
FIXED = ("t,step,kinetic,strain,potential,external_work,damping_loss,impact_loss,friction_loss,correction_work,"
         "numerical_loss,momentum_x,momentum_y,momentum_z,min_gap,active,iterations")
SUMS = "impulse", "step_impulse"


def bar(end=0.01, output="", contacts=f"wall: {WALL}", gap=2.0e-3):
    return BAR.format(end=end, output=output, contacts=contacts, gap=gap)


class Outputs(program.Cases):
    def run_case(self, text, name="bar", *more):
        self.percuss("run", self.write(f"{name}.yaml", text), "-q", "-o", self.path("out"), *more, status=0)

    def text(self, name):
        return (self.folder / "out" / name).read_text()

    def names(self):
        return sorted(os.listdir(self.path("out")))


class History(Outputs):
    def test_columns(self):
        both = WALL.replace("nodes: bar.start", "points: all, nodes: both")
        text = bar(contacts=f"wall: {both}, back: {WALL}", output="probes: { tip: { node: bar.end, of: [x] } }")
        self.run_case(text + "sets: { both: { nodes: [bar.start, bar.end] } }\n")
        parts = ".gap", ".gap_rate", ".force", ".impulse", ".step_impulse"
        wall = [f"wall{i}{part}" for i in ("", "[0]", "[1]") for part in parts]
        back = ["back" + part for part in parts]
        self.assertEqual(self.text("history.csv").splitlines()[0], ",".join([FIXED, *wall, *back, "tip.x"]))
        for row in program.read_table(self.path("out", "history.csv")):
            self.assertEqual(row["wall.gap"], min(row["wall[0].gap"], row["wall[1].gap"]))
            if row["step"] > 0:
                for part in parts[2:]:
                    self.assertEqual(row["wall" + part], row["wall[0]" + part] + row["wall[1]" + part])

    # Rows that are left out keep their impulses; the last step has a row.
    def test_rows_between(self):
        for case, every in (("slider_crank", 3), ("bar_impact", 7), ("bars_two", 4)):
            rows = {}
            for k in (1, every):
                self.percuss("run", f"cases/{case}", "-q", "-o", self.path("out"), "--overwrite", "--set",
                             f"output={{history: {{every: {k}}}, frames: false}}", status=0)
                rows[k] = program.read_table(self.path("out", "history.csv"))
            last = len(rows[1]) - 1
            self.assertEqual([row["step"] for row in rows[every]], sorted({*range(0, last, every), last}))
            before = 0
            for row in rows[every]:
                step = int(row["step"])
                since = rows[1][before + 1:step + 1] if step > 0 else rows[1][:1]
                for name, x in row.items():
                    summed = name.split(".")[-1] in SUMS
                    wanted = sum((r[name] for r in since[1:]), since[0][name]) if summed else rows[1][step][name]
                    self.assertTrue(x == wanted or (math.isnan(x) and math.isnan(wanted)), f"{case} {step} {name}")
                before = step

    # Forces are of steps; an impulse at the start is there.
    def test_what_there_is_at_the_start(self):
        self.run_case(bar())
        first = program.read_table(self.path("out", "history.csv"))[0]
        self.assertEqual([name for name, x in first.items() if math.isnan(x)],
                         ["wall.force", "wall.impulse", "wall.step_impulse"])
        self.run_case(bar(gap=0.0).replace("moreau_jean, theta: 0.6", "jump_newmark, gamma: 0.5"), "hit")
        first = program.read_table(self.path("out", "history.csv"))[0]
        self.assertTrue(math.isnan(first["wall.force"]) and first["wall.impulse"] > 0.0)
        self.assertEqual(first["wall.impulse"], first["wall.step_impulse"])
        self.run_case(bar(contacts=""), "free")
        for row in program.read_table(self.path("out", "history.csv")):
            self.assertTrue(math.isnan(row["min_gap"]) and row["active"] == 0.0)
        self.run_case(bar(output="history: { every: 0 }"), "none", "--overwrite")
        self.assertEqual([name for name in self.names() if "history" in name], [])


def intervals_of(rows, name, open_time, window):
    """Of a contact with one point: what the summary should say of every interval."""
    found, times = [], [row["t"] for row in rows]
    for k, row in enumerate(rows):
        start, t, impulse = times[max(k - 1, 0)], times[k], row[name + ".step_impulse"]
        if not impulse > 0.0:
            continue
        if not found or start - found[-1]["end"] > open_time + 1e-6 * (t - start):
            found.append({"first_step": k, "start": start, "end": start, "total_impulse": 0.0, "impacts": 0,
                          "smooth": 0.0, "pressed": 0.0, "forces": [], "curve": [(start, 0.0)]})
        i = found[-1]
        force = row[name + ".force"] if math.isfinite(row[name + ".force"]) else 0.0
        if start > i["end"]:
            i["curve"].append((start, i["total_impulse"]))
        i["last_step"], i["end"] = k, t
        i["total_impulse"] += impulse
        i["smooth"] += force * (t - start)
        i["pressed"] += max(impulse - row[name + ".impulse"], 0.0)
        i["impacts"] += row[name + ".impulse"] > 0.0
        i["forces"].append(force)
        i["curve"].append((t, i["total_impulse"]))
    for i in found:
        i["duration"] = i["end"] - i["start"]
        has_force = i["pressed"] > 1e-12 * i["total_impulse"]
        i["mean_force"] = i["smooth"] / i["duration"] if has_force else None
        i["peak_force"] = max(i["forces"]) if has_force else None
        means = [(y - value_at(i["curve"], t - window)) / window for t, y in i["curve"]
                 if window > 0.0 and t - i["start"] >= window - 1e-9]
        i["filtered_peak_force"] = max(means) if means and has_force else None
    return found


def value_at(curve, t):
    for (a, x), (b, y) in zip(curve, curve[1:]):
        if t <= b and a < b:
            return x + (t - a) / (b - a) * (y - x)
    return curve[-1][1]


class Summary(Outputs):
    def near(self, told, wanted, part):
        for key in ("start", "end", "duration", "first_step", "last_step", "mean_force", "peak_force",
                    "filtered_peak_force", "total_impulse", "impacts"):
            if wanted[key] is None or told[key] is None:
                self.assertEqual(told[key], wanted[key], f"{part} {key}")
            else:
                self.assertAlmostEqual(told[key], wanted[key], delta=1e-9 * max(1.0, abs(wanted[key])),
                                       msg=f"{part} {key}")

    # The rows of history.csv, taken together by hand.
    def check(self, case, *settings):
        words = [word for setting in settings for word in ("--set", setting)]
        self.percuss("run", case, "-q", "-o", self.path("out"), "--overwrite", "--set",
                     "output.frames=false", *words, status=0)
        rows = program.read_table(self.path("out", "history.csv"))
        summary = program.read_json(self.path("out", "summary.json"))
        for c in summary["contacts"]:
            name = c["name"]
            wanted = intervals_of(rows, name, summary["open_time"], summary["filter_window"] or 0.0)
            self.assertEqual(c["interval_count"], len(wanted), f"{case} {name}")
            kept = wanted[:64] + wanted[64:][-1:]
            self.assertEqual(len(c["intervals"]), len(kept))
            for told, i in zip(c["intervals"], kept):
                self.near(told, i, f"{case} {name}")
                if i["peak_force"] is not None:
                    at = next(row for row in rows if row["t"] == told["peak_force_time"])
                    self.assertAlmostEqual(at[name + ".force"], i["peak_force"], delta=1e-8 * i["peak_force"])
            with_force = [i for i in wanted if i["mean_force"] is not None]
            totals = {"impacts": sum(i["impacts"] for i in wanted),
                      "time_in_contact": sum(i["duration"] for i in wanted),
                      "total_impulse": math.fsum(i["total_impulse"] for i in wanted),
                      "min_gap": min(row[name + ".gap"] for row in rows),
                      "work": -c["impact_loss"] - (c.get("friction_loss") or 0.0)}
            if with_force:
                totals["peak_force"] = max(i["peak_force"] for i in with_force)
                totals["mean_force"] = (sum(i["smooth"] for i in with_force)
                                        / sum(i["duration"] for i in with_force))
            if name + ".friction_loss" in rows[0]:
                totals["friction_loss"] = rows[-1][name + ".friction_loss"]
            for key, x in totals.items():
                self.assertAlmostEqual(c[key], x, delta=1e-9 * max(1.0, abs(x)), msg=f"{case} {name} {key}")
            at = next(row for row in rows if row["t"] == c["min_gap_time"])
            self.assertEqual(at[name + ".gap"], c["min_gap"])
            self.assertEqual(c["is_touching_at_end"], rows[-1][name + ".step_impulse"] > 0.0)
        self.assertAlmostEqual(sum(c["impact_loss"] for c in summary["contacts"]), rows[-1]["impact_loss"], 9)
        self.assertEqual(summary["min_gap"], min(row["min_gap"] for row in rows))
        return summary

    def test_contacts(self):
        self.check("cases/slider_crank")
        self.check("cases/slider_crank", "scheme={type: alpha_ggl}")
        for filters in ("", "open_time: 0.0, ", "open_time: 0.05, "):
            for window in (0.004, 0.005, 0.05, 5.0):
                self.check("cases/bar_impact", f"output.summary={{{filters}filter: {window}}}",
                           "mesh.bar.elements=20", "time.step=0.002")
        bounces = self.check("cases/ball", "output.summary={open_time: 0.3, filter: 0.1}", "time.end=5.0",
                             "scheme={type: half_explicit}", "system.restitution=0.5")["contacts"][0]
        self.assertLess(bounces["interval_count"], bounces["impacts"])
        self.check("cases/bars_two")
        self.run_case(bar(gap=0.0).replace("moreau_jean, theta: 0.6", "jump_newmark, gamma: 0.5"), "hit")
        self.check(self.path("hit.yaml"))
        self.assertIn("closed once", self.text("summary.txt"))

    # Totals go on where intervals are no longer kept; the text has few lines.
    def test_many_contacts(self):
        summary = self.check("cases/ball", "scheme={type: half_explicit}", "system.restitution=0.99", "time.end=60.0")
        self.assertGreater(summary["contacts"][0]["interval_count"], 90)
        text = self.text("summary.txt")
        self.assertRegex(text, r"\.\.\. \d+ more")
        self.assertLess(len(text.splitlines()), 60)

    def test_friction_slides_as_far_as_it_goes(self):
        text = """
mesh: { block: { type: point, at: [0, 0, 0] } }
elements: { block: { type: point_mass, mesh: block, mass: 2.0 } }
supports: { plane: { set: block, fix: [z] } }
initial: [ { set: block, velocity: [4, 0, 0] } ]
loads: { weight: { type: gravity, g: [0, -10, 0] } }
contacts: { floor: { type: node_plane, nodes: block, point: [0, 0, 0], normal: [0, 1, 0], restitution: 0,
            friction: 0.5 }, roof: { type: node_plane, nodes: block, point: [0, 1, 0], normal: [0, -1, 0],
            restitution: 0, friction: 0.5 } }
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 1.0e-2, end: 1.0 }
"""
        self.run_case(text)
        floor, roof = program.read_json(self.path("out", "summary.json"))["contacts"]
        self.assertAlmostEqual(floor["sliding_distance"], 1.6, 12)  # v^2/(2 mu g)
        self.assertAlmostEqual(floor["friction_loss"], 16.0, 11)
        self.assertEqual((roof["sliding_distance"], roof["interval_count"], roof["peak_force"]), (0.0, 0, None))
        for words in ("slid 1.6 m, friction took 16 J", "never closed", "  friction                          -16\n"):
            self.assertIn(words, self.text("summary.txt"))
        states = [row["floor.state"] for row in program.read_table(self.path("out", "history.csv"))]
        self.assertEqual(sorted(set(states[1:])), [1.0, 2.0])
        self.assertEqual(states[2:], sorted(states[2:], reverse=True))  # slides until it sticks

    # Where most steps had to be cut, a length that needed no cut is told.
    def test_steps_that_are_too_long(self):
        settling = "tests/study/settling/spun_beam.yaml"
        self.percuss("run", settling, "-q", "-o", self.path("out"), "--set", "output.frames=false", status=0)
        steps = program.read_json(self.path("out", "summary.json"))["steps"]
        self.assertIn(f"Cut steps    {steps['cut']} covered by smaller ones", self.text("summary.txt"))
        self.assertEqual("usually take less work" in self.text("summary.txt"), 2 * steps["cut"] > steps["done"])
        self.assertGreater(2 * steps["cut"], steps["done"])

    # Nothing makes the file one that JSON does not allow.
    def test_any_text(self):
        title = "\\x01" * 3000 + '\\"\\\\'
        self.run_case(bar().replace("time:", f'title: "{title}"\ntime:'))
        summary = json.loads(read_bytes(self.path("out", "summary.json")), parse_constant=self.fail)
        self.assertTrue(summary["title"].startswith("\x01\x01"))
        self.assertEqual(self.names(), sorted(name for name in self.names() if not name.endswith(".part")))


class Frames(Outputs):
    def listed(self, stem):
        return [(f["name"], f["time"]) for f in program.read_json(self.path("out", stem + ".vtk.series"))["files"]]

    def test_which_and_when(self):
        for name in ("bar_000004.vtk", "bar_000007.vtk", "bar_notes.vtk"):
            self.write("out/" + name, "of an earlier run")
        self.run_case(bar(output="frames: { every: 4 }, contact_frames: { every: 5 }", gap=0.0), "bar", "--overwrite")
        times = 0.0, 0.004, 0.008, 0.01
        self.assertEqual(self.listed("bar"), [(f"bar_{i:06d}.vtk", t) for i, t in enumerate(times)])
        self.assertEqual([t for _, t in self.listed("contacts")], [0.0, 0.005, 0.01])
        there = [name for name in self.names() if re.match(r"bar_\w*\.vtk", name)]
        self.assertEqual(there, [name for name, _ in self.listed("bar")] + ["bar_notes.vtk"])
        self.assertIn(b"\ncontacts of bar: 0 wall\nBINARY\nDATASET POLYDATA\n",
                      (self.folder / "out" / "contacts_000001.vtk").read_bytes())

    def test_about_a_hundred_by_default(self):
        for end, second in ((0.01, 0.001), (0.75, 0.007)):
            self.run_case(bar(end=end), "bar", "--overwrite")
            self.assertEqual(self.listed("bar")[1], ("bar_000001.vtk", second))

    def test_none_where_there_are_none(self):
        self.run_case(bar(output="frames: { every: 0 }", contacts=""))
        self.assertEqual([name for name in self.names() if ".vtk" in name], [])

    def test_odd_names(self):
        title = '"two\\nlines' + "x" * 390 + '"'
        self.run_case(bar().replace("time:", f"title: {title}\ntime:"), 'a "quoted" \\ case')
        first = (self.folder / "out" / self.listed('a "quoted" \\ case')[0][0]).read_bytes()
        self.assertTrue(first.startswith(b"# vtk DataFile Version 3.0\ntwo linesxxx"))
        self.assertEqual(first.index(b"\n", 27), 27 + 255)
        self.run_case(bar(), "contacts")  # stays apart from the frames of contacts
        self.assertEqual(self.listed("model")[0], ("model_000000.vtk", 0.0))

    def test_waves(self):
        rows, nodes = {}, ", ".join(f"n{i}: {{ set: bar, item: {i}, of: [ux, vx] }}" for i in range(4))
        for every in (1, 3):
            self.run_case(bar(output=f"waves: {{ body: bar, of: [stress, vx, ux], every: {every} }}, "
                              f"probes: {{ {nodes} }}"), "bar", "--overwrite")
            head, *lines = self.text("bar.waves.csv").splitlines()
            self.assertEqual(head, "# percuss waves: body bar, 3 cells, fields stress vx ux")
            rows[every] = [[float(x) for x in line.split(",")] for line in lines]
        places = [0.998 * (i + 0.5) / 3 for i in range(3)]
        self.assertEqual(rows[1][0][0], 9.0)
        for x, place in zip(rows[1][0][1:], places * 3, strict=True):
            self.assertAlmostEqual(x, place, 14)
        history = program.read_table(self.path("out", "history.csv"))
        self.assertEqual([row[0] for row in rows[1][1:]], [row["t"] for row in history])
        self.assertEqual([rows[1][0], *(rows[1][1 + k] for k in (0, 3, 6, 9, 10))], rows[3])
        for row, wave in zip(history, rows[1][1:]):
            u, v = ([row[f"n{i}.{name}"] for i in range(4)] for name in ("ux", "vx"))
            for i in range(3):
                self.assertAlmostEqual(wave[1 + i], 900.0 * (u[i + 1] - u[i]) / (0.998 / 3), 11)
            self.assertEqual(wave[4:], [0.5 * (x[i] + x[i + 1]) for x in (v, u) for i in range(3)])
        for of, body, told in (("[stress, stres]", "bar", "of[1]: there is no field 'stres' over a body: there are "
                                "ux, uy, uz, vx, vy, vz, axial_force, stress"), ("[stress]", "bra", "'bra'")):
            self.assertIn(told, self.try_case(bar(output=f"waves: {{ body: {body}, of: {of} }}"), status=2).stderr)


# No file may grow beyond so many bytes: what fails is told with its path, and what is there is whole.
class Full(Outputs):
    def fill(self, room, output, end, elements=3):
        self.write("bar.yaml", bar(output=output, end=end).replace("elements: 3", f"elements: {elements}"))
        self.write("out/history.csv", "of an earlier run")
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))}
        words = "run", self.path("bar.yaml"), "-q", "--overwrite", "-o", self.path("out")
        return self.percuss(*words, status=1, **limit).stderr

    def test_history(self):
        self.assertIn("/out/history.csv: File too large", self.fill(300000, "frames: false, checkpoint: false", 10.0))
        text = self.text("history.csv.part")
        self.assertTrue(100000 < len(text) < 300000 and text.endswith("\n"))
        self.assertEqual(text.splitlines()[-1].count(","), text.splitlines()[0].count(","))
        self.assertNotIn("history.csv", self.names())

    def test_frame(self):
        told = self.fill(60000, "frames: { every: 4 }, history: { every: 0 }, checkpoint: false", 0.01, 3000)
        self.assertIn("/out/bar_000000.vtk: File too large", told)
        self.assertEqual([name for name in self.names() if name.startswith("bar_")], [])

    # The list grows past the limit while the frames stay below it: it is put back as it was.
    def test_list_of_frames(self):
        told = self.fill(60000, "frames: { every: 1 }, history: { every: 0 }, checkpoint: false", 2.0)
        self.assertIn("/out/bar.vtk.series: File too large", told)
        self.assertNotIn("damaged", told)
        files = program.read_json(self.path("out", "bar.vtk.series"))["files"]
        self.assertGreater(len(files), 20)
        self.assertTrue(all(name["name"] in self.names() for name in files))


class Progress(Outputs):
    def test_a_terminal_has_one_line_that_is_rewritten(self):
        begin = time.monotonic()
        case = self.write("bar.yaml", bar(output="history: { every: 1000 }, frames: false", end=300.0))
        told = program.on_terminal("run", case, "-o", self.path("out"))
        lines = re.findall(r"\r(\[=*>? *\] +\d+ %  t = \S+ s  E = [^\r\n]*)", told)
        self.assertGreater(len(lines), 1, told)
        self.assertTrue(all(len(line) <= 79 for line in lines))
        self.assertIn(" steps/s ", lines[0])
        self.assertTrue(lines[-1].startswith("[================] 100 %  t = 300 s"), lines)
        self.assertLess(len(lines), 2 + 10 * (time.monotonic() - begin))

    def test_elsewhere_there_are_few_lines(self):
        result = self.percuss("run", self.write("bar.yaml", bar()), "-o", self.path("out"))
        shown = [line for line in (result.stdout + result.stderr).splitlines() if "%  t =" in line]
        self.assertEqual(len(shown), 1, result.stdout)
        self.assertTrue(shown[0].startswith("100 %  t = 0.01 s  step 10 of 10  E = "))
        os.makedirs(self.path("out", "bar_000005.vtk.part"))  # ends the run
        result = self.percuss("run", self.path("bar.yaml"), "-o", self.path("out"), "--overwrite", status=1)
        self.assertRegex(result.stdout + result.stderr, r"[45]0 %  t = ")


unittest.main()
