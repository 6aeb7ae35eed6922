"""The alert rules can be read, name only what is exported, and each has its place in the runbook."""

import re
from typing import Any

import pytest
import yaml

from snapstate_project.dev.home import BASE_DIR

FOLDER = BASE_DIR / "docs" / "operations"
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"] for rule in group["rules"]
]
OF_PROMETHEUS = {"up"}
METRIC = re.compile(r"\b(snapstate_\w+|up)\b")
DURATION = re.compile(r"\d+[smhd]")


def kinds(operator_api):
    """Each metric's kind, as /metrics tells it."""
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", operator_api.get("/metrics").text, re.MULTILINE))


def family(name):
    return re.sub(r"_(bucket|count|sum)$", "", name)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_is_whole(rule):
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert DURATION.fullmatch(rule["for"])
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"].endswith(".")
    assert all(rule["expr"].count(opening) == rule["expr"].count(closing) for opening, closing in ("()", "{}", "[]"))


def test_names_are_given_once():
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)


def test_every_metric_that_a_rule_names_is_exported(operator_api):
    known = set(kinds(operator_api)) | OF_PROMETHEUS
    named = {family(name) for rule in RULES for name in METRIC.findall(rule["expr"])}
    assert named - known == set()


def test_rates_are_taken_of_counters_and_only_of_them(operator_api):
    known = kinds(operator_api)
    rated = {name for rule in RULES for name in re.findall(r"(?:rate|increase)\(\s*(\w+)", rule["expr"])}
    assert {known[family(name)] for name in rated} <= {"counter", "histogram"}
    named = {name for rule in RULES for name in METRIC.findall(rule["expr"])} - OF_PROMETHEUS
    assert {known[name] for name in named - rated} == {"gauge"}


def test_every_label_that_a_rule_selects_by_is_there(api, operator_api):
    api.get("/workflows/nobody/resume")
    text = operator_api.get("/metrics").text
    for rule in RULES:
        for name, selectors in re.findall(r"(snapstate_\w+)\{([^}]*)\}", rule["expr"]):
            labels = set(re.findall(r"(\w+)(?:=~|!=|=)", selectors))
            line = next(line for line in text.splitlines() if line.startswith(f"{name}{{"))
            assert labels <= set(re.findall(r"(\w+)=", line)), (rule["alert"], line)


def test_the_runbook_says_what_to_do_about_each_and_about_no_other():
    told = re.findall(r"^### (\w+)$", (FOLDER / "runbook.md").read_text(), re.MULTILINE)
    assert sorted(told) == sorted(rule["alert"] for rule in RULES)


def test_the_runbook_explains_every_figure(operator_api):
    text = (FOLDER / "runbook.md").read_text()
    ours = {name for name in kinds(operator_api) if name.startswith("snapstate_")}
    assert sorted(name for name in ours if f"`{name}`" not in text) == []
    assert sorted(set(re.findall(r"`(snapstate_[a-z_]+)`", text)) - ours) == []
