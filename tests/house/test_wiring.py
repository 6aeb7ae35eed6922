"""The walls between rooms stand around everything there is."""

import tomllib

from snapstate_project.dev.home import BASE_DIR
from tests.house.sources import files

PYPROJECT = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())
LAYERS = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
FLOORS = {"snapstate_project.common", "snapstate_project.events"}


def named_in(layer):
    return {part.strip(" ()\n") for part in layer.replace("|", ":").split(":")}


def test_every_module_of_the_wiring_is_in_the_contract():
    paths = [path.relative_to(BASE_DIR) for path in files() if path.suffix == ".py"]
    modules = {
        f"snapstate_project.{path.parts[1].removesuffix('.py')}"
        for path in paths
        if path.parts[0] == "snapstate_project"
    }
    assert modules - FLOORS - {"snapstate_project.__init__"} <= named_in(LAYERS[0])


def test_every_room_is_in_the_contract():
    rooms = {path.parent.name for path in BASE_DIR.glob("*/apps.py")} - {"snapstate_project"}
    assert rooms == named_in(LAYERS[1]) | named_in(LAYERS[2])
