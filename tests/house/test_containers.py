"""docker-compose.yml and Dockerfile keep their promises, and the check that says so can say the opposite."""

import pytest

from snapstate_project.dev.check_containers import compose_faults, dockerfile_faults
from snapstate_project.dev.home import BASE_DIR

COMPOSE = BASE_DIR / "docker-compose.yml"
DOCKERFILE = BASE_DIR / "Dockerfile"


def test_the_containers_have_no_fault():
    assert [*compose_faults(COMPOSE), *dockerfile_faults(DOCKERFILE)] == []


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        ("noeviction", "allkeys-lru", "redis: it may evict"),
        ('--appendonly, "yes"', '--appendonly, "no"', "broker: its AOF is off"),
        ('"127.0.0.1:${REDIS', '"0.0.0.0:${REDIS', "redis: it publishes beyond loopback"),
        ("image: postgres:18", "image: postgres", "postgres: the image postgres has no version"),
        ("user: postgres", "user: root", "postgres: it runs as root"),
        ("read_only: true", "read_only: false", "web: its file system is not read-only"),
        ("${DEBUG:-true}", "${DEBUG}", "${DEBUG} has no default"),
        ("path: .env,", "path: .environment,", "intake: it does not hear what .env says"),
        ('PORT: "8000"', "PORT: ${PORT:-8000}", "web: it listens where .env says, and nobody asks it there"),
        ("    broker: {condition", "    queue: {condition", "web: it waits for queue, which is not there"),
    ],
)
def test_a_fault_of_the_containers_is_seen(tmp_path, was, becomes, fault):
    text = COMPOSE.read_text()
    assert was in text
    (tmp_path / "docker-compose.yml").write_text(text.replace(was, becomes))
    assert fault in list(compose_faults(tmp_path / "docker-compose.yml"))


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        ("USER snapstate", "USER root", "the image runs as root"),
        ("--require-hashes ", "", "packages are installed without their hashes"),
        ("python:3.13-slim-bookworm", "python", "the image python has no version"),
        ("COPY templates", "COPY pictures", "COPY pictures: there is no such file"),
        ("COPY accounts accounts\n", "", "the package accounts is not copied"),
    ],
)
def test_a_fault_of_the_image_is_seen(tmp_path, was, becomes, fault):
    text = DOCKERFILE.read_text()
    assert was in text
    for path in BASE_DIR.iterdir():
        if path.name not in ("Dockerfile", ".git", ".venv"):
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "Dockerfile").write_text(text.replace(was, becomes))
    assert fault in list(dockerfile_faults(tmp_path / "Dockerfile"))
