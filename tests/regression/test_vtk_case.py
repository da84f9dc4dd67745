"""The files of one run agree with each other: frames as VTK reads them, contact frames, history and summary of
bar_impact. Argument: the program."""

import json
import math
import pathlib
import sys
import tempfile

import vtk_readback
from program import percuss, read_table

EVERY, CELLS, AREA = 30, 200, 1.0


class Checks:
    def __init__(self):
        self.failed = []
        self.count = 0

    def same(self, actual, expected, what):
        self.count += 1
        if not actual == expected:
            self.failed.append(f"{what}: {actual!r}, expected {expected!r}")

    def near(self, actual, expected, tolerance, what):
        self.count += 1
        if not abs(actual - expected) <= tolerance:
            self.failed.append(f"{what}: {actual!r}, expected {expected!r} within {tolerance:g}")


def read_series(folder, stem):
    series = json.loads((folder / f"{stem}.vtk.series").read_text())
    return [(entry["time"], vtk_readback.read_frame(folder / entry["name"])) for entry in series["files"]]


def check_frames(check, folder, history):
    frames = read_series(folder, "bar_impact")
    last = len(history) - 1
    steps = sorted(set(range(0, last + 1, EVERY)) | {last})
    check.same([frame["step"] for _, frame in frames], steps, "steps of the frames")
    reference = frames[0][1]["points"] - frames[0][1]["arrays"]["point", "displacement"]
    for (time, frame), step in zip(frames, steps):
        row, arrays = history[step], frame["arrays"]
        check.same((time, frame["time"]), (row["t"], row["t"]), f"time of step {step}")
        check.same(len(frame["cells"]), CELLS, "cells")
        check.same(frame["points"][-1][0], row["tip.x"], f"position of the tip in step {step}")
        check.same(arrays["point", "velocity"][-1][0], row["tip.vx"], f"velocity of the tip in step {step}")
        moved = reference + arrays["point", "displacement"]
        check.near(abs(moved - frame["points"]).max(), 0.0, 1e-13, f"points of step {step}")
        force, stress = arrays["cell", "axial_force"], arrays["cell", "stress"]
        check.near(abs(force - AREA * stress).max(), 0.0, 1e-12 * abs(force).max() + 1e-300, f"stress of step {step}")
        strain = arrays["cell", "strain_energy"].sum()
        check.near(strain, row["strain"], 1e-12 * (1.0 + abs(row["strain"])), f"strain energy of step {step}")
    return frames


def check_contacts(check, folder, history, frames):
    """Of the frames' steps those in which the wall is touched or has been since the frame before, the first one, and
    those that follow these."""
    contacts = {contact["step"]: (time, contact) for time, contact in read_series(folder, "contacts")}
    before, was_loaded, wanted = -1, True, []
    for _, frame in frames:
        step, row, since = frame["step"], history[frame["step"]], history[max(before + 1, 1):frame["step"] + 1]
        is_loaded = row["active"] > 0 or any(r["wall.step_impulse"] != 0 for r in since)
        if is_loaded or was_loaded:
            wanted.append(step)
            check_contact(check, *contacts.get(step, (None, None)), frame, history, since)
        before, was_loaded = step, is_loaded
    check.same(sorted(contacts), wanted, "steps of the contact frames")
    check.same(2 < len(contacts) < len(frames), True, "fewer contact frames")


def check_contact(check, time, contact, frame, history, since):
    step, row = frame["step"], history[frame["step"]]
    if contact is None:
        return
    arrays = contact["arrays"]
    check.same((time, contact["step"]), (row["t"], step), f"contact frame of step {step}")
    check.same(arrays["point", "gap"][0][0], row["wall.gap"], f"gap of step {step}")
    check.same(arrays["point", "gap_velocity"][0][0], row["wall.gap_rate"], f"gap rate of step {step}")
    check.same(list(contact["points"][0]), list(frame["points"][0]), f"contact point of step {step}")
    check.same(int(arrays["point", "state"][0][0]), int(row["active"]), f"state of step {step}")
    if step > 0:
        check.same(arrays["point", "force"][0][0], row["wall.force"], f"force of step {step}")
        check.same(list(arrays["point", "force_vector"][0]), [row["wall.force"], 0.0, 0.0], f"arrow of step {step}")
    for name in "impulse", "step_impulse":
        total = math.fsum(r[f"wall.{name}"] for r in since)
        check.near(arrays["point", name][0][0], total, 1e-12, f"{name} up to step {step}")


def check_summary(check, folder, history):
    summary = json.loads((folder / "summary.json").read_text())
    last = history[-1]
    check.same(summary["ending"], "finished", "ending")
    check.same(summary["steps"]["done"], len(history) - 1, "steps")
    check.same(summary["time"]["reached"], last["t"], "time reached")
    check.same(summary["certificate"]["verdict"], "held", "certificate")
    for name in "kinetic", "strain", "potential", "impact_loss", "friction_loss", "correction_work", "numerical_loss":
        check.same(summary["energy"][name], last[name], name)
    check.near(summary["energy"]["imbalance"], 0.0, 1e-10, "imbalance of the ledger")
    closed = [i for i, row in enumerate(history) if row["wall.step_impulse"] > 0]
    contact = summary["contacts"][0]
    check.same(contact["interval_count"], 1, "intervals")
    interval = contact["intervals"][0]
    check.same((interval["first_step"], interval["last_step"]), (closed[0], closed[-1]), "steps of the interval")
    check.same((interval["start"], interval["end"]), (history[closed[0] - 1]["t"], history[closed[-1]]["t"]), "times")
    check.near(interval["total_impulse"], math.fsum(history[i]["wall.step_impulse"] for i in closed), 1e-10, "impulse")
    check.same(interval["peak_force"], max(history[i]["wall.force"] for i in closed), "peak force")
    check.same(summary["min_gap"], min(row["min_gap"] for row in history), "smallest gap")
    # The momentum that the wall has given.
    check.near(contact["total_impulse"], last["momentum_x"] - history[0]["momentum_x"], 1e-9, "momentum")


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        percuss("run", "cases/bar_impact", "-o", name, "--quiet", "--set", f"output.frames.every={EVERY}", check=True)
        leftovers = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
        check.same(leftovers, [], "unfinished files")
        history = read_table(folder / "history.csv")
        frames = check_frames(check, folder, history)
        check_contacts(check, folder, history, frames)
        check_summary(check, folder, history)
    for line in check.failed[:20]:
        print(line)
    print(f"{check.count} checks, {len(check.failed)} failed")
    sys.exit(1 if check.failed or check.count == 0 else 0)


if __name__ == "__main__":
    main()
