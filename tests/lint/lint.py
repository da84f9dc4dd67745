"""The project's rules as functions: each takes a path (relative to the project) and the file's text and yields
findings "line: what is wrong". Rules on the compiled library take its symbol table."""

import re

LIBRARY = ("src/", "elements/", "mesh/")

# Which layers a folder may include besides itself; the name of a header allows that one only.
MAY_INCLUDE = {
    "core": [],
    "elements": ["core"],
    "mesh": ["core"],
    "case": ["core"],
    "linsolve": ["core"],
    "rows": ["mesh", "system", "core"],
    "system": ["core"],
    "fe": ["system", "elements", "mesh", "rows", "core"],
    "closed_form": ["system", "core", "percuss_system.h"],
    "step": ["system", "linsolve", "core"],
    "schemes": ["system", "step", "core"],
    "output": ["system", "step", "mesh", "core", "schemes/scheme.h"],
    "analysis": ["output", "case", "fe/rigid.h", "system", "linsolve", "core", "schemes/scheme.h"],
    "sim": ["output", "case", "schemes", "step", "system", "core"],
}
MAY_INCLUDE_ALL = ("build", "main.c", "percuss.c")

STANDARD_HEADERS = set(
    "assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdalign stdarg stdbool stddef "
    "stdatomic stdint stdio stdlib string tgmath threads time "
    "dirent dlfcn fcntl unistd sys/file sys/ioctl sys/mman sys/resource sys/stat sys/time sys/types sys/wait".split())

ALLOCATION = r"\b(malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|strdup|strndup|asprintf|" \
             r"vasprintf|getline|getdelim|open_memstream)\s*\("
PRINTING = r"\b(printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort)\s*\(|\b(stdout|stderr)\b"
# Spelled in pieces, so that this file passes its own rule.
MACHINE_PATHS = r"(?<![\w.])/(wor" r"k|roo" r"t|hom" r"e|tm" r"p)(/|\b)|\.\./sha" r"red"
UNFINISHED = r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"

LONGEST_LINE, LONGEST_FUNCTION, MOST_ARGUMENTS = 120, 60, 6
LOCKS = ("arpack_lock", "arpack_once")  # of a library that has variables of its own
FOREIGN_SIGNATURES = ("start_note_error",)  # called back by PETSc


def blank(text, strings=True):
    """The C text with comments (and the insides of strings) replaced by spaces; line numbers stay."""
    def spaces(match):
        token = match.group(0)
        if token[0] in "\"'" and not strings:
            return token
        return re.sub(r"[^\n]", " ", token)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text, flags=re.S)


def find(pattern, text, what):
    for match in re.finditer(pattern, text):
        yield f"{text.count(chr(10), 0, match.start()) + 1}: {what} '{match.group(0).strip()}'"


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def includes(text):
    for match in re.finditer(r'^\s*#\s*include\s*([<"])([^>"]+)', blank(text, strings=False), re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def include_rule(path, text):
    """Includes go downwards only."""
    layer = layer_of(path)
    if not path.startswith(LIBRARY) or layer in MAY_INCLUDE_ALL:
        return
    for line, quote, name in includes(text):
        if quote != '"' or name.endswith("_list.def") and name.split("/")[0] in (layer, name):
            continue
        allowed = [layer] + MAY_INCLUDE.get(layer, [])
        if name not in allowed and ("/" not in name or name.split("/")[0] not in allowed):
            yield f"{line}: {layer} may not include '{name}'"


def private_rule(path, text, read):
    """A header that says it is private to its folder is included there only; `read` gives the text of a header."""
    for line, quote, name in includes(text):
        if quote == '"' and "/" in name and name.split("/")[0] != layer_of(path):
            if "private to this folder" in (read(name) or "").split("#ifndef")[0]:
                yield f"{line}: '{name}' is private to its folder"


def defined_names(text):
    """Functions and tables with external linkage that a C text defines."""
    plain = blank(text)
    functions = re.findall(r"^(?!static|typedef|extern)[a-z][\w *]*?\b(pcs_\w+)\([^;{]*\)\s*\{", plain, re.M)
    tables = re.findall(r"^(?!static|extern)const [\w *]*?\b(pcs_\w+)(?:\[\])? = ", plain, re.M)
    return set(functions) | set(tables)


def circle(texts):
    """A circle of files of one folder that use each other, as a list of paths, or None; `texts` are texts by path."""
    owner = {name: path for path, text in texts.items() for name in defined_names(text)}
    uses = {path: sorted({owner[name] for name in re.findall(r"\bpcs_\w+", blank(text)) if name in owner} - {path})
            for path, text in texts.items()}
    done = set()

    def walk(path, way):
        if path in way:
            return way[way.index(path):]
        if path in done:
            return None
        for other in uses[path]:
            found = walk(other, way + [path])
            if found:
                return found
        done.add(path)
        return None
    for path in sorted(uses):
        found = walk(path, [])
        if found:
            return found
    return None


def allocation_rule(path, text):
    """Memory comes through core/alloc.c."""
    if path.startswith(LIBRARY) and path != "src/core/alloc.c":
        yield from find(ALLOCATION, blank(text), "allocation outside src/core/alloc.c:")


def printing_rule(path, text):
    """The library never prints, exits or aborts, nor does it write to a stream that it is given."""
    if path.startswith(LIBRARY) and path != "src/main.c":
        yield from find(PRINTING, blank(text), "the library may not use")
        if path.endswith(".h"):
            yield from find(r"\bFILE\b", blank(text), "an interface may not have")


def third_party(path, text):
    """Third-party headers a file includes."""
    for line, quote, name in includes(text):
        if quote == "<" and name.removesuffix(".h") not in STANDARD_HEADERS:
            yield line, name


def function_rule(path, text):
    """No function is longer than a screen."""
    if not path.endswith((".c", ".h")):
        return
    lines = blank(text).split("\n")
    start = None
    for number, line in enumerate(lines):
        if line.startswith("{"):
            start = number
            while start > 0 and lines[start - 1].strip() and not lines[start - 1].rstrip().endswith((";", "}")) \
                    and not lines[start - 1].startswith("#"):
                start -= 1
        elif line.startswith("}") and start is not None:
            if number - start + 1 > LONGEST_FUNCTION:
                yield f"{start + 1}: a function of {number - start + 1} lines, allowed are {LONGEST_FUNCTION}"
            start = None


def closing(text, begin):
    """Place of the bracket that closes the one at `begin`."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return len(text)


def split_at(text, separator):
    """Parts of a text between separators that stand in no brackets."""
    parts, depth = [""], 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and text.startswith(separator, place):
            parts.append("")
        elif depth > 0 or not (len(separator) > 1 and text.startswith(separator, place - 1)):
            parts[-1] += letter
    return [part.strip() for part in parts]


def argument_rule(path, text):
    """What a function needs is grouped: it has few arguments."""
    if not path.startswith(LIBRARY):
        return
    code = blank(text)
    for match in re.finditer(r"^\w[\w *]*?\b(\w+)\(", code, re.M):
        end = closing(code, match.end() - 1)
        count = len(split_at(code[match.end():end], ","))
        if code[end + 1:end + 3] == "\n{" and count > MOST_ARGUMENTS and match.group(1) not in FOREIGN_SIGNATURES:
            line = code.count("\n", 0, match.start()) + 1
            yield f"{line}: {match.group(1)} takes {count} arguments, allowed are {MOST_ARGUMENTS}"


def changes(name, body):
    """May a body change the variable, or what it points to?"""
    is_set = rf"(?<![\w.>])\*?{name}\b(->|[^;=!<>(])*?(=(?!=)|\+\+|--|[-+*/|&]=)|(\+\+|--)\*?{name}\b"
    is_passed = rf"&{name}\b|[(,]\s*{name}\s*[,)]"
    return re.search(f"{is_set}|{is_passed}", body)


def guard_rule(path, text):
    """A condition that the loop never changes is an `if` before it, not part of its head."""
    if not path.startswith(LIBRARY):
        return
    code = blank(text)
    for match in re.finditer(r"\bfor \(", code):
        end = closing(code, match.end() - 1)
        parts = split_at(code[match.end():end], ";")
        body_end = closing(code, end + 2) if code[end + 2:end + 3] == "{" else code.find(";", end)
        body = code[end + 1:body_end] + ";" + parts[-1] if len(parts) == 3 else ""
        for term in split_at(parts[1], "&&") if len(parts) == 3 else ():
            roots = set(re.findall(r"(?<![\w.>])[a-z_]\w*(?![\w(])", term))
            if roots and len(split_at(parts[1], "&&")) > 1 and "(" not in term \
                    and not any(changes(root, body) for root in roots):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{line}: '{term}' in the head of a loop that never changes it"


def conditional_rule(path, text):
    """One `?:` within another hides a decision."""
    if not path.startswith(LIBRARY):
        return
    code = blank(text)
    for match in re.finditer(r"\?", code):
        rest = code[match.end():]
        end = min(place for place in (rest.find(";"), rest.find("{"), len(rest)) if place >= 0)
        depth = 0
        for place, letter in enumerate(rest[:end]):
            depth += (letter in "([{") - (letter in ")]}")
            if depth < 0 or depth == 0 and letter == ",":
                break
            if letter == "?":
                yield f"{code.count(chr(10), 0, match.start()) + 1}: a conditional within another"
                break


def shape_rule(path, text):
    """Length of lines, no tabs in C, no trailing blanks, a last line that ends."""
    lines = text.split("\n")
    if path.endswith((".c", ".h", ".py", ".sh", ".txt", ".cmake")):
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST_LINE:
                yield f"{number}: {len(line)} characters, allowed are {LONGEST_LINE}"
            if "\t" in line:
                yield f"{number}: a tab"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield f"{number}: blanks at the end"
    if text and not text.endswith("\n"):
        yield f"{len(lines)}: the last line does not end"


def word_rule(path, text):
    """Nothing unfinished, nothing that only exists on one machine."""
    if path != "Makefile":
        yield from find(MACHINE_PATHS, text, "a path of one machine:")
    yield from find(UNFINISHED, text, "unfinished:")


def opening_rule(path, text, header_text=None):
    """A C file opens with what it is for; the .c of a header that says so need not repeat it."""
    if path.endswith((".c", ".h")) and not text.startswith("//") and not (header_text or "").startswith("//"):
        yield "1: the file does not open with a comment on what it is for"


def registered(text):
    """Name and file of every line of a registry."""
    return [(name, file or name) for name, file in re.findall(r"^PCS_\w+\((\w+)(?:, (\w+))?\)", text, re.M)]


def registry_rule(path, text, lines):
    """A file that exports a part stands in its folder's registry; otherwise nobody can choose it."""
    name = path.split("/")[-1].removesuffix(".c")
    parts = ["_" + part for part, file in lines if file == name]
    for match in re.finditer(r"^const (?:pcs_\w+_ops|percuss_system_definition) (pcs_\w+) = \{", text, re.M):
        if path.startswith(LIBRARY) and lines and not match.group(1).endswith(tuple(parts)):
            line = text.count(chr(10), 0, match.start()) + 1
            yield f"{line}: '{match.group(1)}' is in no registry of its folder"


def compiled(text, read):
    """The files of the percuss_sources calls in a CMake text, registries included; a file as often as it is listed."""
    for folder, words in re.findall(r"^percuss_sources\((\S+)\s([^)]*)\)", text, re.M):
        for word in words.split():
            if word.endswith("_list.def"):
                yield from {f"{folder}/{file}.c" for _, file in registered(read(f"{folder}/{word}"))}
            else:
                yield f"{folder}/{word}.c"


def source_rule(text, read, files):
    """Every source file is compiled, and once: a registry names it, or the list of what the parts stand on, or a target
    of its own does."""
    listed = list(compiled(text, read))
    targets = re.findall(r"\bsrc/\S+\.c\b", text)
    for path in sorted(set(listed) | set(files)):
        if path not in files:
            yield f"'{path}' is listed, but not there"
        elif listed.count(path) > 1:
            yield f"'{path}' is listed {listed.count(path)} times"
        elif path not in listed and path not in targets:
            yield f"'{path}' is in no registry and in no list of sources"


def link_rule(path, text, exists):
    """Relative links of the documents lead somewhere."""
    if path.endswith(".md"):
        for match in re.finditer(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", text):
            if not exists(match.group(1)):
                yield f"{text.count(chr(10), 0, match.start()) + 1}: a link to '{match.group(1)}', which is not there"


def excuse_rule(path, text, read):
    """Every excused test is one that exists, and has one of the reasons that the head of the file gives."""
    reasons = set(re.findall(r"^# ([a-z-]+)  ", text, re.M))
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 4 or words[3] not in reasons:
            yield f"{number}: not of the form 'variants test function reason' with a known reason"
        elif not re.search(rf"\b{words[2]}\b", read(f"tests/{words[1]}")):
            yield f"{number}: {words[1]} has no test '{words[2]}'"


def writable_data(objdump):
    """Variables in `objdump -t` that can be written: .data, .bss and common, but not the constants that only the
    loader fills in (.data.rel.ro). Static variables inside functions are found, too."""
    for line in objdump.split("\n"):
        match = re.match(r"^[0-9a-f]{8,} (.{7}) (\S+)\s+([0-9a-f]+)\s+(?:\.hidden )?(\S+)$", line)
        if not match or int(match.group(3), 16) == 0 or "O" not in match.group(1):
            continue
        section = match.group(2)
        if match.group(4) in LOCKS:
            continue
        if re.match(r"\.t?bss|\.t?data|\*COM\*", section) and not section.startswith(".data.rel.ro"):
            yield f"variable '{match.group(4)}' can be written ({section})"


def foreign_names(nm):
    """External names that do not carry the project's prefix."""
    for line in nm.split("\n"):
        match = re.match(r"^[0-9a-f]+ [TDBRVWC] (\S+)$", line)
        if match and not match.group(1).startswith(("pcs_", "percuss_")):
            yield f"external name '{match.group(1)}' has no pcs_ prefix"


def needed_parts(nm, lines):
    """Parts that others need, so that their line could not be taken out of the registry: `nm` of the library, and name
    and file of every registered part. Files named after a part, <file>_x, belong to it."""
    members = [(name, re.findall(r"^[0-9a-f]+ [TDBR] (\S+)$", body, re.M), re.findall(r"^ +U (\S+)$", body, re.M))
               for name, body in re.findall(r"^(\w+)\.c\.o:\n((?:.+\n)*)", nm, re.M)]
    for file, defined, _ in members:
        tables = tuple("_" + part for part, of in lines if of == file)
        if not tables or not any(symbol.endswith(tables) for symbol in defined):
            continue
        for symbol in defined:
            users = [user for user, _, used in members if symbol in used and not (user + "_").startswith(file + "_")]
            if users and not symbol.endswith(tables):
                yield f"'{symbol}' of the part {file}.c is used by {users[0]}.c"
