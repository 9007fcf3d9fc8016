#!/usr/bin/env python3
"""Whether functions can be read at once: tests/function_length.py [ROOT]. At most 60 lines, in C++, kernels and Python.

Tables of tests are longer. clang-tidy looks at C++ closer (readability-function-size); this sees kernels too, and all files in a second.
"""

import ast
import pathlib
import re
import sys

MOST = 60
TOPS = ["bench", "blas", "common", "compat", "cuda", "examples", "kernels", "opencl", "python", "tools"]
CONTROL = re.compile(r"^(if|else|for|while|switch|do|catch|try)\b")
HEADER = re.compile(r"\)\s*(const|noexcept|override|final|mutable|&&?|->\s*[\w:<>,&* ]+|\s)*$")


def without_comments(text):
    """The text with as many lines, but no comment, no preprocessor's line and nothing in quotes."""
    def blank(found):
        return "\n" * found[0].count("\n")
    text = re.sub(r'R"(\w*)\((?:.|\n)*?\)\1"', blank, text)
    text = re.sub(r'//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text)
    return re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text)


def braced_functions(text):
    """First line, length and header of what has braces behind a list of parameters."""
    stack, head, parentheses, line = [], "", 0, 1
    for char in without_comments(text):
        line += char == "\n"
        parentheses += (char == "(") - (char == ")")
        if char == "{":
            stack.append((line, " ".join(head.split())))
            head = ""
        elif char == "}" and stack:
            begin, header = stack.pop()
            if HEADER.search(header) and not CONTROL.match(header):
                yield begin, line - begin + 1, header
            head = ""
        elif char == ";" and parentheses == 0:
            head = ""
        else:
            head += char


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1, node.name


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    faults = 0
    for path in (path for top in TOPS for path in sorted((root / top).rglob("*"))):
        name = str(path.relative_to(root))
        if path.suffix not in (".cpp", ".h", ".hpp", ".c", ".cl", ".py"):
            continue
        functions = python_functions if path.suffix == ".py" else braced_functions
        for line, length, header in functions(path.read_text()):
            if length > MOST:
                faults += 1
                print(f"{name}:{line}: {length} lines, more than {MOST}: {header[-80:]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
