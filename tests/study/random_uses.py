"""What else than a run a random case goes through: meshes of Gmsh, ranks, start from equilibrium, statics, modes,
studies, what a run writes. `Uses(judge, case, scale).all()`; what is drawn follows the seed."""

import copy
import csv
import math
import random

import random_cases

RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "1",
         "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


class Uses:
    def __init__(self, judge, case, scale):
        self.judge, self.case, self.scale = judge, case, scale
        self.rng = random.Random(f"uses of {judge.seed}")

    def all(self):
        """After a run to the end, whose results are in folder a."""
        for use, share in ((self.gmsh, 0.5), (self.ranks, 0.15), (self.from_statics, 0.3), (self.analyses, 0.5),
                           (self.study, 0.2), (self.written, 0.4)):
            if self.rng.random() < share:
                use()

    def note(self, text):
        self.judge.notes.append(text)

    def written_case(self, name, case):
        self.judge.write(name, random_cases.text(case, self.scale))

    def same(self, folder, what):
        """The same results as in folder a, up to what round-off grows to."""
        off = self.judge.compare_runs("a", folder)
        self.note(f"{what}: {'the same' if off <= self.judge.same else 'others'}")
        if not off <= self.judge.same and not self.judge.is_decided_by_roundoff(self.case, self.scale, off):
            self.judge.faults.append(f"{what} differs by {off:.1e}")

    # Meshes

    @staticmethod
    def msh(points):
        n = len(points) - 1
        tags = "".join(f"{i + 1}\n" for i in range(n + 1))
        places = "".join(f"{p[0]!r} {p[1]!r} {p[2]!r}\n" for p in points)
        lines = "".join(f"{i + 3} {i + 1} {i + 2}\n" for i in range(n))
        return ("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n0 1 \"start\"\n0 2 \"end\"\n1 3 \"all\"\n"
                "$EndPhysicalNames\n$Entities\n2 1 0 0\n1 0 0 0 1 1\n2 0 0 0 1 2\n1 0 0 0 0 0 0 1 3 0\n$EndEntities\n"
                f"$Nodes\n1 {n + 1} 1 {n + 1}\n1 1 0 {n + 1}\n{tags}{places}$EndNodes\n$Elements\n3 {n + 2} 1 {n + 2}\n"
                f"0 1 15 1\n1 1\n0 2 15 1\n2 {n + 1}\n1 1 1 {n}\n{lines}$EndElements\n")

    def gmsh(self):
        """Lines from a file in metres."""
        case, is_changed = copy.deepcopy(self.case), False
        for name, mesh in case.get("mesh", {}).items():
            if mesh["type"] != "line":
                continue
            a, b = ([x.value for x in mesh[key]] for key in ("from", "to"))
            n = mesh["elements"]
            self.judge.write(name + ".msh", self.msh([[x + (y - x) * i / n for x, y in zip(a, b)]
                                                      for i in range(n + 1)]))
            case["mesh"][name] = {"type": "gmsh", "file": name + ".msh", "scale": random_cases.Number(1.0, "m")}
            is_changed = True
        self.written_case("gmsh.yaml", case)
        if is_changed and self.judge.call("run", "gmsh.yaml", "-o", "g", "-q")[0] == 0:
            self.same("g", "mesh of Gmsh")

    def ranks(self):
        for count in (1, 2):
            folder = f"np{count}"
            status, message = self.judge.call("run", "case.yaml", "-o", folder, "-q", may=(0, 1, 2), env=RANKS,
                                              before=("mpiexec", "-n", str(count)))
            if status == 0:
                self.same(folder, f"{count} ranks")
            elif status == 2:
                self.note(f"{count} ranks: refused")
            elif status == 1:
                self.judge.faults.append(f"{count} ranks stop: {message}")

    # Equilibria and vibrations

    def from_statics(self):
        status, message = self.judge.call("run", "case.yaml", "-o", "s", "-q", "--set", "start=statics", may=(0, 1, 2))
        self.note(f"start: statics: status {status}")
        if status == 0:
            self.judge.values(self.case, self.judge.table("s/history.csv"))
            self.judge.resumed("s", "case.yaml", "--set", "start=statics")

    def analyses(self):
        path = self.rng.choice(["load", "load", "arc", "history"])
        status, _ = self.judge.call("statics", "case.yaml", "-o", "statics", "-q", "--set", f"statics.path={path}",
                                    "--time", repr(self.judge.end * self.rng.random()), may=(0, 1, 2))
        self.note(f"statics: status {status}")
        if status == 0:
            self.finite("statics/statics.csv")
        about = self.rng.choice([[], ["--about", "statics"], ["--whirl"]])
        status, _ = self.judge.call("modes", "case.yaml", "-o", "modes", "-q", *about, may=(0, 1, 2))
        self.note(f"modes: status {status}")
        if status == 0:
            self.finite("modes/modes.csv")

    def finite(self, name):
        with open(self.judge.path(name)) as file:
            rows = list(csv.reader(file))
        for row in rows[1:]:
            for key, value in zip(rows[0], row):
                if key == "run":
                    continue  # a name, which may read as a number without end
                try:
                    is_finite = math.isfinite(float(value or 0.0))
                except ValueError:
                    continue  # a word
                if not is_finite:
                    self.judge.faults.append(f"{name}: {key} is {value}")

    # Results

    def study(self):
        """Runs to half the time and to the end; the second is that of folder a."""
        end = self.judge.end
        status, message = self.judge.call("study", "case.yaml", "--vary", f"time.end={0.5 * end!r},{end!r}", "-j", "1",
                                          "--keep", "-o", "study", "-q", may=(0, 1))
        if status != 0:
            self.judge.faults.append(f"study: {message}")
            return
        self.finite("study/study.csv")
        self.judge.call("report", "study", "-o", "study.html")

    def output(self):
        rng = self.rng
        frames = {"every": rng.randint(1, 40), "format": rng.choice(["vtk", "vtu"]),
                  "precision": rng.choice(["double", "float"]), "pieces": rng.choice(["auto", "always", "never"])}
        if rng.random() < 0.3:
            span = sorted(rng.random() * self.judge.end for _ in range(2))
            frames["window"] = span
        more = {"frames": frames, "contact_frames": {"every": rng.randint(0, 20)},
                "summary": {"text": rng.random() < 0.5, "open_time": self.judge.end * rng.random() * 0.1,
                            "filter": self.judge.end * (0.01 + rng.random() * 0.2)}}
        lines = [name for name, mesh in self.case.get("mesh", {}).items() if mesh["type"] in ("line", "arc")]
        if lines and rng.random() < 0.5:
            more["waves"] = {"body": rng.choice(lines), "of": ["ux", "vx"], "every": rng.randint(1, 9)}
        return more

    def written(self):
        """What else is written leaves the history as it is."""
        case = copy.deepcopy(self.case)
        case.setdefault("output", {}).update(self.output())
        self.written_case("written.yaml", case)
        status, message = self.judge.call("run", "written.yaml", "-o", "w", "-q", may=(0, 2))
        if status == 2:
            self.note("output: " + message.split(": ", 2)[-1][:60])
        elif status == 0:
            self.judge.alike("w", "other output", has_summary=False)
            self.judge.resumed("w", "written.yaml")
