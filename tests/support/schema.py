"""As much of JSON schema, draft 7, as the schema of a case file uses. A keyword that is not known here is an error, so
that nothing goes unjudged."""

import re

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool}
NOTES = {"description", "default", "title", "$schema", "definitions", "then", "else"}


def is_kind(value, kind):
    if kind in ("number", "integer"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and (kind == "number" or value == int(value))
    return isinstance(value, KINDS[kind])


def same(a, b):
    return type(a) is type(b) and a == b


def listed(x):
    return x if isinstance(x, list) else [x]


def is_unique(items):
    return all(not same(a, b) for i, a in enumerate(items) for b in items[:i])


class Validator:
    def __init__(self, schema):
        self.root = schema

    def holds(self, value, schema):
        return next(self.errors(value, schema), None) is None

    def errors(self, value, schema=None, path=""):
        """Yields (path, keyword) for everything that is wrong."""
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            if not schema:
                yield path, "false"
            return
        for keyword, rule in schema.items():
            if keyword in NOTES:
                continue
            yield from getattr(self, "on_" + keyword.strip("$").lower())(value, rule, path, schema)

    def on_ref(self, value, rule, path, schema):
        yield from self.errors(value, self.root["definitions"][rule.removeprefix("#/definitions/")], path)

    def on_allof(self, value, rule, path, schema):
        for part in rule:
            yield from self.errors(value, part, path)

    def on_if(self, value, rule, path, schema):
        branch = schema.get("then" if self.holds(value, rule) else "else", True)
        yield from self.errors(value, branch, path)

    def on_properties(self, value, rule, path, schema):
        for key in rule.keys() & value.keys() if isinstance(value, dict) else ():
            yield from self.errors(value[key], rule[key], f"{path}.{key}")

    def on_patternproperties(self, value, rule, path, schema):
        for key in value if isinstance(value, dict) else ():
            for pattern in (p for p in rule if re.search(p, key)):
                yield from self.errors(value[key], rule[pattern], f"{path}.{key}")

    def on_additionalproperties(self, value, rule, path, schema):
        for key in value if isinstance(value, dict) else ():
            is_known = key in schema.get("properties", {}) or any(re.search(p, key)
                                                                  for p in schema.get("patternProperties", {}))
            if not is_known:
                yield from self.errors(value[key], rule, f"{path}.{key}")

    def on_items(self, value, rule, path, schema):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.errors(item, rule, f"{path}.{i}")

    def verdict(keyword, test):
        def judge(self, value, rule, path, schema):
            if not test(self, value, rule):
                yield path, keyword
        return judge

    def among(kind, test):
        return lambda self, value, rule: not isinstance(value, kind) or isinstance(value, bool) or test(value, rule)

    on_type = verdict("type", lambda self, value, rule: any(is_kind(value, k) for k in listed(rule)))
    on_enum = verdict("enum", lambda self, value, rule: any(same(value, x) for x in rule))
    on_const = verdict("const", lambda self, value, rule: same(value, rule))
    on_not = verdict("not", lambda self, value, rule: not self.holds(value, rule))
    on_anyof = verdict("anyOf", lambda self, value, rule: any(self.holds(value, x) for x in rule))
    on_oneof = verdict("oneOf", lambda self, value, rule: sum(self.holds(value, x) for x in rule) == 1)
    on_contains = verdict("contains", lambda self, value, rule: not isinstance(value, list) or
                          any(self.holds(x, rule) for x in value))
    on_propertynames = verdict("propertyNames", lambda self, value, rule: not isinstance(value, dict) or
                               all(self.holds(x, rule) for x in value))
    on_required = verdict("required", among(dict, lambda value, rule: all(key in value for key in rule)))
    on_minproperties = verdict("minProperties", among(dict, lambda value, rule: len(value) >= rule))
    on_minitems = verdict("minItems", among(list, lambda value, rule: len(value) >= rule))
    on_maxitems = verdict("maxItems", among(list, lambda value, rule: len(value) <= rule))
    on_uniqueitems = verdict("uniqueItems", among(list, lambda value, rule: not rule or is_unique(value)))
    on_minlength = verdict("minLength", among(str, lambda value, rule: len(value) >= rule))
    on_pattern = verdict("pattern", among(str, lambda value, rule: re.search(rule, value)))
    on_minimum = verdict("minimum", among((int, float), lambda value, rule: value >= rule))
    on_maximum = verdict("maximum", among((int, float), lambda value, rule: value <= rule))
    on_exclusiveminimum = verdict("exclusiveMinimum", among((int, float), lambda value, rule: value > rule))
    on_exclusivemaximum = verdict("exclusiveMaximum", among((int, float), lambda value, rule: value < rule))
