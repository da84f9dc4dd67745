"""The shared library as ctypes sees it: where it is, and what percuss.h and percuss_system.h, which lie beside this
file, declare. `Source` is the struct percuss_source, `Watch` the function percuss_watch, and so on."""

import ctypes
import os
import re
import sys
import sysconfig
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_void_p
from typing import Any

VERSION = "0.1.0"
HERE = os.path.dirname(os.path.abspath(__file__))
TYPES: dict[str, Any] = {"void": None, "int": c_int, "long": ctypes.c_long, "double": ctypes.c_double,
                         "size_t": ctypes.c_size_t, "char": ctypes.c_char}  # and the structs and functions of headers
FUNCTIONS: dict[str, list[Any]] = {}  # result and arguments
FUNCTION = re.compile(r"(?:typedef )?([\w *]+?)(?:\(\*(\w+)\)|\b(\w+))\((.*)\)")  # result, name, arguments


def type_of(words: str, is_member: bool = False) -> Any:
    """The type of `const char *`: pointers are addresses, but for texts, and in structs for lists and functions."""
    name, stars = words.replace("const", "").replace("struct", "").replace("*", "").split()[0], words.count("*")
    if not stars:
        return TYPES.get(name, c_int)  # what is not known is an enum
    if is_member and hasattr(TYPES.get(name), "_restype_"):  # a function
        return TYPES[name]
    one = c_char_p if name == "char" else c_void_p
    return one if stars == 1 else POINTER(one) if is_member else c_void_p


def function_type(declaration: str) -> tuple[str, list[Any]]:
    """Name, and the types of the result and the arguments of a function."""
    match = FUNCTION.fullmatch(declaration)
    assert match, declaration
    plain = re.sub(r"\([^()]*\)(\([^()]*\)|\[\d*\])|\[\d*\]", "*", match[4])  # functions and arrays are pointers
    return match[2] or match[3], [type_of(match[1]), *(type_of(one) for one in plain.split(",") if one != "void")]


def member_types(body: str) -> list[tuple[str, Any]]:
    """Names and types of the members of a struct."""
    found: list[tuple[str, Any]] = []
    for member in filter(None, (" ".join(part.split()) for part in body.split(";"))):
        if FUNCTION.fullmatch(member):
            name, (result, *arguments) = function_type(member)
            found.append((name, CFUNCTYPE(c_void_p if result is c_char_p else result,
                                          *(c_void_p if one is c_char_p else one for one in arguments))))
            continue
        head, *others = member.split(",")
        base = re.sub(r"\(?\*?\w+[])\[0-9]*$", "", head)
        for declarator in [head, *(base + other for other in others)]:
            words, name, count = re.findall(r"(.*[ (*])(\w+)\)?(?:\[(\d+)\])?$", declarator)[0]
            kind = type_of(words, True)
            found.append((name, kind * int(count) if count and "(" not in words else kind))
    return found


def declare(header: str) -> None:
    """Makes the types of a header known."""
    with open(os.path.join(HERE, header), encoding="utf-8") as file:
        text = re.sub(r'//.*|#.*|extern "C" \{', "", file.read())
    for match in re.finditer(r"typedef struct \w+ \{([^}]*)\} percuss_(\w+);|typedef enum[^;]*;|([^;{}]+);", text):
        declaration = " ".join((match[3] or "").split())
        if match[2]:
            TYPES["percuss_" + match[2]] = type(match[2], (Structure,), {"_fields_": member_types(match[1])})
        elif declaration.startswith("typedef int"):
            name, (result, *arguments) = function_type(declaration)
            TYPES[name] = CFUNCTYPE(result, *arguments)
        elif "(" in declaration:
            name, FUNCTIONS[name] = function_type(declaration)


def __getattr__(name: str) -> Any:
    key = "percuss" + re.sub("[A-Z]", lambda match: "_" + str(match[0]).lower(), name)
    if key not in TYPES:
        raise AttributeError(name)
    globals()[name] = TYPES[key]
    return TYPES[key]


def places() -> list[str]:
    """Where the library may be, best first: as the environment says, in the tree it was built in, where it was
    installed beside this package, where libraries are."""
    arch = sysconfig.get_config_var("MULTIARCH") or ""
    found = [os.environ["PERCUSS_LIBRARY"]] if os.environ.get("PERCUSS_LIBRARY") else []
    if os.path.exists(os.path.join(HERE, "..", "..", "src", "percuss.h")):
        found.append(os.path.join(HERE, "..", "..", "build", "libpercuss.so.0"))
    found.append(os.path.join(HERE, "lib", "libpercuss.so.0"))  # of a wheel
    prefixes = [os.path.abspath(os.path.join(HERE, *[".."] * up)) for up in (4, 3)] + [sys.prefix, "/usr/local", "/usr"]
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
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}: it is another version than this package")
        function.restype, function.argtypes = result, arguments
    version = library.percuss_version().decode()
    if version.split(".")[:2] != VERSION.split(".")[:2]:
        raise ImportError(f"{path} is version {version}, this package is made for {VERSION}")
    setattr(library, "path", path)
    return library


declare("percuss_system.h")
declare("percuss.h")
lib: Any = load()


def program() -> str:
    """The program `percuss` that belongs to the library, for completion."""
    folder = os.path.dirname(os.path.abspath(lib.path))
    near = [os.environ.get("PERCUSS_PROGRAM", ""), *(os.path.join(folder, up) for up in (
        "percuss", "../bin/percuss", "../../bin/percuss"))]
    return next((path for path in near if os.access(path, os.X_OK)), "percuss")
