"""The documents are true: what they name exists, and what exists is named."""

import re
from pathlib import Path

import pytest

from snapstate_project.dev.home import BASE_DIR
from tests.house.sources import files, named, short

READS_ENVIRONMENT = re.compile(
    r"""(?:env(?:_int|_bool|_list|_choice|_url)?\(|environ\.get\(|environ\[)\s*["']([A-Z][A-Z0-9_]+)["']"""
)
OFFERS = re.compile(r"^(?:# )?([A-Z][A-Z0-9_]+)=", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OF_PYTHON = {"DJANGO_SETTINGS_MODULE", "SNAPSTATE_ENV_FILE"}  # set by us for our own processes


def read_by_the_server():
    """The names that settings and gunicorn read."""
    texts = [(BASE_DIR / "snapstate_project" / name).read_text() for name in ("settings.py", "gunicorn.py")]
    return {name for text in texts for name in READS_ENVIRONMENT.findall(text)} - OF_PYTHON


def test_the_example_environment_has_every_name_the_server_reads_and_no_other():
    assert set(OFFERS.findall((BASE_DIR / ".env.example").read_text())) == read_by_the_server()


def test_every_name_the_containers_set_is_one_the_server_reads():
    common = (BASE_DIR / "docker-compose.yml").read_text().split("environment: &environment")[1].split("depends_on")[0]
    assert set(re.findall(r"^    ([A-Z0-9_]+):", common, re.MULTILINE)) <= read_by_the_server()


@pytest.mark.parametrize("path", named(".md"), ids=short)
def test_links_lead_somewhere(path: Path):
    targets = [link.split("#")[0] for link in LINK.findall(path.read_text())]
    local = [target for target in targets if target and "://" not in target and not target.startswith("mailto:")]
    assert [target for target in local if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", named(".md"), ids=short)
def test_files_that_documents_name_exist(path: Path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    mentioned = set(re.findall(r"`((?:[a-z_]+/)+[\w.-]*\w)`", text))
    roots = {name.split("/")[0] for name in map(short, files())}
    ours = {name for name in mentioned if name.split("/")[0] in roots}
    assert [name for name in sorted(ours) if not (BASE_DIR / name).exists()] == []


@pytest.mark.parametrize("path", named(".md"), ids=short)
def test_make_targets_that_documents_name_exist(path: Path):
    targets = set(re.findall(r"^([a-z]+):", (BASE_DIR / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`", path.read_text())) <= targets


def test_the_readme_fits_on_three_screens():
    assert len((BASE_DIR / "README.md").read_text().splitlines()) <= 150


def test_contributing_has_its_five_recipes():
    text = (BASE_DIR / "CONTRIBUTING.md").read_text()
    wanted = ["an endpoint", "an event", "a subscriber", "an environment variable", "a Lua script"]
    assert [name for name in wanted if f"## Add {name}" not in text] == []


def test_nothing_names_a_machine_it_was_built_on():
    suspicious = re.compile(r"/work/|/root/|/home/\w+/")
    texts = [
        path for path in files() if path.suffix in {".py", ".md", ".toml", ".yml", ".lua", ".html", ".json", ".lock"}
    ]
    here = BASE_DIR / "tests" / "house" / "test_documents.py"
    assert [short(path) for path in texts if path != here and suspicious.search(path.read_text())] == []
