"""The bench runs, counts what it should, and says so; that its figures are good is for the bench itself to tell."""

import json
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from snapstate_project.dev.bench import __main__ as bench
from snapstate_project.dev.bench.requests import LIFE, SIZES, Plan
from snapstate_project.dev.bench.slices import Order
from snapstate_project.dev.bench.states import make_course, recorded_steps
from snapstate_project.dev.home import BASE_DIR
from tests.dev.steps import family, gone

COUNTS = ["--rounds", "1", "--seconds", "0.2", "--connections", "4", "--sustained", "1", "--raw", "1"]


def run(folder, *arguments):
    command = [sys.executable, "-m", "snapstate_project.dev.bench", "--json", str(folder / "bench.json"), *arguments]
    return subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_every_part_is_measured_and_nothing_is_left_running(tmp_path):
    running = run(tmp_path, *COUNTS, "--only", "save,storage")
    running.stderr.readline()
    said, problems = running.communicate(timeout=100)
    found = json.loads((tmp_path / "bench.json").read_text())
    assert running.returncode == 0, problems
    assert [each["size"] for each in found["full_load"]] == [each["size"] for each in found["one_client"]] == [*SIZES]
    assert found["failures"] == 0
    assert found["warm_request"]["save 2 KB"]["transactions"] == 0
    assert found["storage"]["checkpoints"] > 30
    assert "save 50 KB by one client" in said
    assert re.search(r"a synced write takes [0-9.]+ ms\n", said)


def test_an_interrupt_leaves_no_process_behind(tmp_path):
    running = run(tmp_path, *COUNTS)
    for line in running.stderr:
        if "save 2 KB" in line:
            break
    everyone = family(running.pid)
    running.terminate()
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert len(everyone) > 8
    assert gone(everyone)


def test_a_part_that_is_not_known_is_named(capsys):
    with pytest.raises(SystemExit):
        bench.parse(["--only", "save,speed"])
    assert "not speed" in capsys.readouterr().err


@pytest.mark.parametrize("size", SIZES.values())
def test_states_grow_by_appending_and_have_the_size_they_should_on_average(size):
    course = make_course(size, steps=LIFE, spread=0.6)
    histories = [state["history"] for state in course.objects]
    assert course.average == pytest.approx(size, rel=0.05)
    assert all(later[: len(before)] == before for before, later in pairwise(histories))
    assert len(set(course.texts)) == LIFE


def test_recorded_runs_are_made_up_where_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAJECTORIES_DIR", str(tmp_path))
    steps = recorded_steps()
    assert len({step.run for step in steps}) == 6
    assert steps == recorded_steps()


def test_connections_save_different_workflows():
    plan = Plan({}, {}, "key", "run", {}, 0)
    order = Order("SnapState", "save", "2 KB", 1.0, connections=2)
    first, second = (next(plan.requests(order, place))[0] for place in (0, 1))
    assert first != second
