"""The shared library as ctypes sees it: where it is, the structs of percuss.h, and the types of its functions."""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_long, c_size_t, c_void_p
from typing import Any

VERSION = "0.1.0"


class Source(Structure):
    _fields_ = [("path", c_char_p), ("text", c_char_p), ("nset", c_int), ("set", POINTER(c_char_p)),
                ("system", c_void_p)]


class Place(Structure):
    _fields_ = [("file", c_char * 512), ("line", c_int), ("column", c_int), ("text", c_void_p),
                ("text_length", c_size_t)]


WATCH = CFUNCTYPE(c_int, c_void_p, c_void_p)


class RunOptions(Structure):
    _fields_ = [("directory", c_char_p), ("end", c_double), ("watch", WATCH), ("user", c_void_p),
                ("interval", c_double)]


class Once(Structure):
    _fields_ = [("directory", c_char_p), ("like", c_void_p), ("mesh_factor", c_double), ("step_factor", c_double),
                ("keeps_output", c_int), ("needs_history", c_int), ("beside", c_int), ("watch", WATCH),
                ("user", c_void_p), ("interval", c_double), ("name", c_char * 20), ("was_there", c_int),
                ("has_cells", c_int), ("has_steps", c_int)]


class Set(Structure):
    _fields_ = [("name", c_char_p), ("is_cells", c_int), ("count", c_int), ("items", c_void_p)]


class Dof(Structure):
    _fields_ = [("equation", c_int), ("is_rotation", c_int), ("direction", c_double * 3)]


class Picture(Structure):
    _fields_ = [("npoint", c_int), ("ncell", c_int), ("nfield", c_int), ("reference", c_void_p),
                ("displacement", c_void_p), ("velocity", c_void_p), ("cells", c_void_p),
                ("field_names", POINTER(c_char_p)), ("fields", POINTER(c_void_p))]


class Matrix(Structure):
    _fields_ = [("nrow", c_int), ("ncol", c_int), ("nnz", c_int), ("start", c_void_p), ("row", c_void_p),
                ("value", c_void_p)]


class Contact(Structure):
    _fields_ = [("name", c_char_p), ("gap", c_double), ("gap_rate", c_double), ("force", c_double),
                ("impulse", c_double), ("step_impulse", c_double), ("tangent", c_double * 2), ("slip", c_double * 2),
                ("friction", c_double), ("restitution", c_double), ("group", c_int), ("is_joint", c_int),
                ("is_closed", c_int), ("is_impact", c_int)]


class Group(Structure):
    _fields_ = [("name", c_char_p), ("first", c_int), ("count", c_int), ("is_joint", c_int)]


class Reaction(Structure):
    _fields_ = [("name", c_char_p), ("is_support", c_int), ("force", c_double * 3), ("moment", c_double * 3),
                ("has_teeth", c_int), ("tangential", c_double), ("separating", c_double)]


class Energy(Structure):
    _fields_ = [(name, c_double) for name in
                ("kinetic", "strain", "potential", "external_work", "damping_loss", "impact_loss", "correction_work",
                 "numerical_loss", "friction_loss", "initial", "material_loss")]


class Check(Structure):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("worst_ratio", c_double), ("worst_value", c_double),
                ("tolerance", c_double), ("worst_time", c_double), ("is_reported_only", c_int)]


class Effort(Structure):
    _fields_ = [(name, c_long) for name in ("steps", "iterations", "factorizations", "attempts", "cut_steps")] + \
               [(name, c_double) for name in ("setup", "step", "certify", "output")] + [("memory", c_size_t)]


class StillOptions(Structure):
    _fields_ = [("steps", c_int), ("time", c_double), ("count", c_int), ("is_about_statics", c_int),
                ("is_whirl", c_int)]


class Mode(Structure):
    _fields_ = [("frequency", c_double), ("damping", c_double), ("residual", c_double), ("kind", c_char_p),
                ("name", c_char_p), ("re", c_void_p), ("im", c_void_p)]


class Option(Structure):
    _fields_ = [("section", c_char_p), ("part", c_char_p), ("summary", c_char_p), ("key", c_char_p),
                ("help", c_char_p), ("kind", c_char_p), ("preset", c_char_p), ("is_required", c_int),
                ("low", c_double), ("high", c_double), ("low_is_open", c_int), ("high_is_open", c_int),
                ("choices", POINTER(c_char_p))]


VISIT = CFUNCTYPE(None, c_void_p, POINTER(Option))

# Result and arguments of every function; a handle is a plain address.
H = c_void_p
FUNCTIONS = {
    "version": (c_char_p,), "open": (c_int, POINTER(Source), POINTER(H)), "destroy": (None, POINTER(H)),
    "message": (c_char_p, H), "message_at": (c_int, H, c_int, POINTER(Place)), "notes": (c_char_p, H),
    "read": (c_int, POINTER(Source), POINTER(H)), "run_once": (c_int, POINTER(Source), POINTER(Once), POINTER(H)),
    "step": (c_int, H), "run_with": (c_int, H, POINTER(RunOptions)), "is_done": (c_int, H),
    "keep": (c_void_p, H), "restore": (c_int, H, c_void_p), "forget": (None, POINTER(c_void_p)),
    "save": (c_int, H, c_char_p), "load_state": (c_int, H, c_char_p),
    "time": (c_double, H), "step_size": (c_double, H), "end_time": (c_double, H), "steps": (c_long, H),
    "length": (c_double, H), "dofs": (c_int, H), "displacement": (c_void_p, H), "velocity": (c_void_p, H),
    "acceleration": (c_void_p, H), "force": (c_void_p, H), "internal_force": (c_void_p, H),
    "contact_force": (c_void_p, H), "nodes": (c_int, H), "coordinates": (c_void_p, H), "cells": (c_int, H),
    "cell_nodes": (c_void_p, H), "sets": (c_int, H), "set_at": (Set, H, c_int),
    "node_dofs": (c_int, H, c_int, POINTER(Dof)), "equation": (c_int, H, c_int, c_int),
    "name_equation": (None, H, c_int, c_size_t, c_char_p), "coordinate_name": (c_char_p, H, c_int),
    "draw": (Picture, H), "matrix_of": (c_int, H, c_int, POINTER(Matrix)), "contacts": (c_int, H),
    "contact_at": (Contact, H, c_int), "groups": (c_int, H), "group_at": (Group, H, c_int),
    "rows": (c_void_p, H, c_int, POINTER(c_size_t)),
    "contact_points": (c_int, H, POINTER(c_void_p), POINTER(c_void_p)), "reactions": (c_int, H),
    "reaction_at": (Reaction, H, c_int), "probes": (c_int, H), "probe_name": (c_char_p, H, c_int),
    "probe_at": (c_double, H, c_int), "energies": (Energy, H), "checks": (c_int, H), "check_at": (Check, H, c_int),
    "efforts": (Effort, H), "applied_force": (c_void_p, H), "apply": (c_int, H, c_int, POINTER(c_double)),
    "loads": (c_int, H), "load_name": (c_char_p, H, c_int), "set_load_factor": (c_int, H, c_char_p, c_double),
    "set_friction": (c_int, H, c_char_p, c_double),
    "statics": (c_int, POINTER(Source), POINTER(StillOptions), POINTER(H)),
    "modes": (c_int, POINTER(Source), POINTER(StillOptions), POINTER(H)), "mode_count": (c_int, H),
    "mode_at": (Mode, H, c_int), "list_options": (c_int, VISIT, c_void_p),
}


def places() -> list[str]:
    """Where the library may be, best first: as the environment says, in the tree it was built in, where it was
    installed beside this package, where libraries are."""
    here = os.path.dirname(os.path.abspath(__file__))
    arch = sysconfig.get_config_var("MULTIARCH") or ""
    found = [os.environ["PERCUSS_LIBRARY"]] if os.environ.get("PERCUSS_LIBRARY") else []
    if os.path.exists(os.path.join(here, "..", "..", "src", "percuss.h")):
        found.append(os.path.join(here, "..", "..", "build", "libpercuss.so.0"))
    prefixes = [os.path.abspath(os.path.join(here, *[".."] * up)) for up in (4, 3)] + [sys.prefix, "/usr/local", "/usr"]
    for prefix in prefixes:
        found += [os.path.join(prefix, "lib", arch, "libpercuss.so.0"), os.path.join(prefix, "lib", "libpercuss.so.0")]
    return found


def load() -> ctypes.CDLL:
    path = next((p for p in places() if os.path.isfile(p)), "libpercuss.so.0")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"libpercuss.so.0 cannot be loaded ({error}); install Percuss, or name the library in the "
                          "environment variable PERCUSS_LIBRARY") from None
    for name, (result, *arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, "percuss_" + name)
        except AttributeError:
            raise ImportError(f"{path} has no percuss_{name}: it is another version than this package") from None
        function.restype = result
        function.argtypes = arguments
    version = library.percuss_version().decode()
    if version.split(".")[:2] != VERSION.split(".")[:2]:
        raise ImportError(f"{path} is version {version}, this package is made for {VERSION}")
    setattr(library, "path", path)
    return library


lib: Any = load()


def program() -> str:
    """The program `percuss` that belongs to the library; for studies."""
    folder = os.path.dirname(os.path.abspath(lib.path))
    near = [os.environ.get("PERCUSS_PROGRAM", ""), os.path.join(folder, "percuss"),
            os.path.join(folder, "..", "bin", "percuss"), os.path.join(folder, "..", "..", "bin", "percuss")]
    return next((p for p in near if p and os.path.isfile(p) and os.access(p, os.X_OK)), "percuss")
