"""Rooms stay small enough to read: lines per module and function, one docstring, empty packages, imports at the top."""

import ast

import pytest

from snapstate_project.dev.home import BASE_DIR
from tests.house.sources import named, python, short

MODULE, TEST_MODULE = 250, 300
FUNCTION = 25
PUBLISHED = (BASE_DIR / "sdk-python", BASE_DIR / "mcp-server")  # their packages may say what they offer
TEST = 20  # aim for 15; what a race or a crash needs to be told may take a few more


def trees(paths):
    return [(path, ast.parse(path.read_text())) for path in paths]


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function):
    """Of its body, the docstring left out: that is for people, and may be as long as they need."""
    body = function.body
    first = body[1] if ast.get_docstring(function) and len(body) > 1 else body[0]
    return function.end_lineno - first.lineno + 1


def test_no_module_is_longer_than_two_screens():
    long = {short(path): len(path.read_text().splitlines()) for path in [*python(), *named(".lua")]}
    most = {path: TEST_MODULE if path.startswith("tests/") else MODULE for path in long}
    assert {path: lines for path, lines in long.items() if lines > most[path]} == {}


def test_no_function_is_longer_than_one_screen():
    found = [(path, function) for path, tree in trees(python()) for function in functions(tree)]
    assert [f"{short(path)}:{f.lineno} {f.name} ({length(f)})" for path, f in found if length(f) > FUNCTION] == []


def test_no_test_is_longer_than_twenty_lines():
    tests = [path for path in python() if path.name.startswith("test_")]
    found = [(path, function) for path, tree in trees(tests) for function in functions(tree)]
    long = [f"{short(path)}:{f.lineno} {f.name} ({length(f)})" for path, f in found if length(f) > TEST]
    assert [name for name in long if " test_" in name] == []


@pytest.mark.parametrize("path", python(), ids=short)
def test_a_module_says_its_rule_and_a_package_says_nothing(path):
    text = path.read_text()
    if path.name != "__init__.py" or (text and path.parent.parent in PUBLISHED):
        assert ast.get_docstring(ast.parse(text))
    else:
        assert text == ""


def test_imports_stand_at_the_top():
    inside = [
        f"{short(path)}:{node.lineno}"
        for path, tree in trees(python())
        for function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []
