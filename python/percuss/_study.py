"""Studies: a case over values of its keys."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, Optional

from ._handle import assignments, encode, text_of
from ._library import program
from .errors import InputError, Message, SimulationError
from .results import Path, Results

if TYPE_CHECKING:
    import pandas


def study(case: Path, vary: Optional[Mapping[str, Any]] = None, *, set: Optional[Mapping[str, Any]] = None,
          refine: Optional[str] = None, measure: Optional[Mapping[str, str]] = None, output: Optional[Path] = None,
          jobs: Optional[int] = None) -> pandas.DataFrame:
    """A case over values of its keys, by `percuss study`: its table. Values are a sequence, or a text as the program
    takes it ("0.5:1:0.1"). Without `output` nothing is kept."""
    if output is None:
        with tempfile.TemporaryDirectory(prefix="percuss-") as directory:
            return study(case, vary, set=set, refine=refine, measure=measure, jobs=jobs,
                         output=os.path.join(directory, "study"))
    command = [program(), "study", os.fsdecode(encode(case, "case")), "-o", os.fspath(output), "--quiet"]
    for key, values in (vary or {}).items():
        listed = values if isinstance(values, str) else ",".join(text_of(value) for value in values)
        command += ["--vary", f"{key}={listed}"]
    for line in assignments(set):
        command += ["--set", line]
    for name, formula in (measure or {}).items():
        command += ["--measure", f"{name}={formula}"]
    command += ["--refine", refine] if refine is not None else []
    command += ["--jobs", str(int(jobs))] if jobs is not None else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError("the program percuss is not found; name it in PERCUSS_PROGRAM") from None
    if done.returncode == 2 or not os.path.exists(os.path.join(output, "study.csv")):
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line]
        kind = InputError if done.returncode == 2 else SimulationError
        raise kind("\n".join(lines), [Message("", 0, 0, line) for line in lines])
    return Results(output, "study").table
