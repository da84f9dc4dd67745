"""Units and names of quantities, by the last part of a column's name, and of the keys of a case, which are listed."""

import functools
import itertools
import re
from ctypes import CFUNCTYPE, POINTER, c_void_p
from typing import Any, NamedTuple, Optional

from . import _library as c


class Quantity(NamedTuple):
    """What a column holds: its unit and the name of an axis with such columns."""

    unit: str
    name: str


_TABLE = """
s | time | t time_in_contact first_time last_time
J | energy | kinetic strain potential E energy strain_energy kinetic_energy
J | work | external_work correction_work work plastic_work load_work joint_work friction_work
J | loss | damping_loss material_loss impact_loss friction_loss numerical_loss loss viscous_loss
kg m/s | momentum | momentum_x momentum_y momentum_z
m | gap | gap min_gap
m/s | gap rate | gap_rate
m/s | rate | rate
m | sliding distance | slide sliding sliding_distance
N | force | force peak_force mean_force filtered_peak_force fx fy fz tangential separating axial_force shear_force
N | force | shear_y shear_z axial_start axial_end shear_start shear_end
N | force | shear_y_start shear_y_end shear_z_start shear_z_end
N s | impulse | total_impulse impulse step_impulse
N m | moment | mx my mz torque moment moment_start moment_end moment_y moment_z
N m | moment | moment_y_start moment_y_end moment_z_start moment_z_end
m | position | x y z s n height position lower upper
m | displacement | ux uy uz
m/s | velocity | vx vy vz v_s v_n v_height v_position v_lower v_upper v_x v_y v_z velocity
rad | rotation | rx ry rz
rad/s | angular velocity | wx wy wz v_theta
N | friction | friction
rad | angle | theta
kg m^2/s | angular momentum | angular_momentum
m | elongation | elongation
Pa | stress | stress bending_stress stress_start stress_end
s | step size | step_size h
rad/s | angular frequency | w
Hz | frequency | f
"""
UNITS = ("m", "s", "kg", "N", "Pa", "J", "rad", "Hz", "1/s", "m/s", "m/s^2", "rad/s", "kg/m", "kg/m^3", "m^2", "m^4",
         "N/m", "N m", "N s", "N s/m", "N m/rad", "N m s/rad", "kg m^2", "Pa s", "N/m^2")
_QUANTITIES = {part: Quantity(unit.strip(), name.strip())
               for unit, name, parts in (line.split("|") for line in _TABLE.strip().splitlines())
               for part in parts.split()}


def quantity(column: str) -> Optional[Quantity]:
    """The quantity of a column such as `wall.force`, `tip.vx` or `t`; None if its name says nothing."""
    part = re.sub(r"\.(min|max|start|end|final|data|model)$", "", column).rsplit(".", 1)[-1]
    found = _QUANTITIES.get(part) or _QUANTITIES.get(re.sub(r"^((v_)?theta)\d+$", r"\1", part))
    if part.endswith("_time"):
        found = found or _QUANTITIES["t"]
    return found or (Quantity("J", "energy") if column.startswith("energy.") else None)


def unit(column: str) -> str:
    """The unit of a column, "" if its name says none."""
    found = quantity(column)
    return found.unit if found else ""


class Option(NamedTuple):
    """A key of a case, or an option of one of its parts; `key` is None for the part itself."""

    section: Optional[str]
    part: str
    summary: str
    key: Optional[str]
    help: Optional[str]
    kind: Optional[str]
    preset: Optional[str]
    is_required: bool
    low: float
    high: float
    choices: Optional[tuple[Any, ...]]


def options() -> list[Any]:
    """Everything that a case can be made of, an Option each."""
    found: list[Any] = []

    def visit(_user: Any, pointer: Any) -> None:
        o = pointer.contents
        choices = [text.decode() for text in itertools.takewhile(bool, o.choices or ())]
        plain = [x.decode() if isinstance(x, bytes) else x for x in (getattr(o, name) for name in Option._fields[:-1])]
        found.append(Option._make([*plain, tuple(choices) or None])._replace(is_required=bool(o.is_required)))

    if c.lib.percuss_list_options(CFUNCTYPE(None, c_void_p, POINTER(c.Option))(visit), None) != 0:
        raise MemoryError("out of memory: the options")
    return found


@functools.lru_cache(maxsize=None)
def of_key(key: str) -> str:
    """The unit of a key of a case, such as elements.bar.E, from the last words of its help; "" if none is known, or
    parts differ in it."""
    section, *_, last = key.split(".") if "." in key else ("", key)
    found = {match[1].strip() if (match := re.search(r", ([^,;:(]*)$", option.help or "")) else ""
             for option in options() if option.key == last and (option.section or option.part) == section}
    found = {said if said in UNITS else "" for said in found}
    return found.pop() if len(found) == 1 else ""


def split(name: str) -> tuple[str, Optional[str]]:
    """`wall.peak_force [N]`, as study.csv has it, into the name and the unit; None if there is no unit."""
    match = re.fullmatch(r"(.*\S) \[([^][]*)\]", name, re.DOTALL)
    return (match[1], match[2]) if match else (name, None)


def join(name: str, unit_text: str) -> str:
    """The inverse of split."""
    return f"{name} [{unit_text}]" if unit_text else name
