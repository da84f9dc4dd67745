"""What else than a run a random case goes through: meshes of Gmsh, ranks, start from equilibrium, statics, modes.
`Uses(judge, case, scale).all()`; what is drawn follows the seed."""

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
        for use, share in ((self.gmsh, 0.5), (self.ranks, 0.15), (self.from_statics, 0.3), (self.analyses, 0.5)):
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
