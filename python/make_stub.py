#!/usr/bin/env python3
"""Writes the types of the result files for type checkers: make_stub.py SCHEMA STUB, from bench/schema/results.json to _results.pyi.

A command's result is a class, whose items have types of their own. What lies deeper is a TypedDict each. Where the schema has
several objects in one place, as a row that was measured or one that could not be, they are one type here, and what only some of
them have need not be there.
"""

import json
import sys

HEAD = '''"""Types of the result files. Made of bench/schema/results.json by python/make_stub.py."""

from typing import Any, Literal, TypedDict, overload

import matplotlib.axes
import pandas
from typing_extensions import NotRequired

class Result(dict[str, Any]):
    @property
    def kind(self) -> str: ...
    def _repr_html_(self) -> str | None: ...
    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes: ...

def frame(result: dict[str, Any] | list[Any]) -> pandas.DataFrame: ...
'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def class_name(*words):
    return "".join(part.capitalize() for word in words for part in word.split("_"))


class Stub:
    def __init__(self, schema):
        self.definitions = schema["$defs"]
        self.commands = [part["$ref"].rpartition("/")[2] for part in schema["oneOf"]]
        self.text = HEAD
        self.names = {}  # of what $ref names
        for command in self.commands:
            if command not in ("python", "programs"):  # which the program does not write
                self.add_result(command)

    def resolved(self, schema):
        return self.definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def union(self, schemas, name):
        """The type of any of these, in which all objects are one."""
        objects = [schema for schema in schemas if "properties" in self.resolved(schema)]
        types = [self.type_of(schema, name) for schema in schemas if schema not in objects or len(objects) == 1]
        return " | ".join(types if len(objects) < 2 else [self.object(list(map(self.resolved, objects)), name), *types])

    def type_of(self, schema, name):
        if "$ref" in schema:
            target = schema["$ref"].rpartition("/")[2]
            if target not in self.names:
                self.names[target] = self.type_of(self.definitions[target], class_name(target))
            return self.names[target]
        if "const" in schema or "enum" in schema:
            return f"Literal[{', '.join(repr(value) for value in schema.get('enum', [schema.get('const')]))}]"
        if "oneOf" in schema:
            return self.union(schema["oneOf"], name)
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " | ".join(self.kind(schema, kind, name) for kind in kinds)

    def kind(self, schema, kind, name):
        if kind == "array":
            return f"list[{self.type_of(schema['items'], name.removesuffix('s'))}]"
        if kind != "object":
            return SIMPLE[kind]
        if "properties" in schema:
            return self.object([schema], name)
        return f"dict[str, {self.type_of(schema['additionalProperties'], name)}]"

    def members(self, objects, name):
        """Name, type, and whether each of the objects has it."""
        for member in dict.fromkeys(member for each in objects for member in each["properties"]):
            schemas = [each["properties"][member] for each in objects if member in each["properties"]]
            distinct = [schema for i, schema in enumerate(schemas) if schema not in schemas[:i]]
            yield member, self.union(distinct, name + class_name(member)), all(member in each.get("required", []) for each in objects)

    def object(self, objects, name):
        lines = [f"    {member}: {kind if needed else f'NotRequired[{kind}]'}\n" for member, kind, needed in self.members(objects, name)]
        self.text += f"\nclass {name}(TypedDict):\n" + "".join(lines)
        return name

    def add_result(self, command):
        members = list(self.members([self.definitions[command]], class_name(command)))
        self.text += f"\nclass {class_name(command)}(Result):\n"
        for member, kind, _ in members:
            self.text += f'    @overload  # type: ignore[override]\n    def __getitem__(self, key: Literal["{member}"]) -> {kind}: ...\n'


if __name__ == "__main__":
    _, source, stub = sys.argv
    with open(source, encoding="utf-8") as file:
        text = Stub(json.load(file)).text
    with open(stub, "w", encoding="utf-8") as file:
        file.write(text)
