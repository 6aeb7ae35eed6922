"""docker-compose.yml and Dockerfile hold what we promise of them; said without Docker, for machines that have none."""

import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

from snapstate_project.dev.home import BASE_DIR

OURS = {"migrate", "web", "intake", "worker", "webhooks", "beat"}
SERVERS = {"redis", "broker", "postgres", "storage"}
ONLY_ONCE = {"migrate"}  # it ends, so nobody asks after its health
PUBLISHED = {"web": "8000", "redis": "6379", "postgres": "5432"}

type Service = dict[str, Any]


def main() -> int:
    faults = [*compose_faults(BASE_DIR / "docker-compose.yml"), *dockerfile_faults(BASE_DIR / "Dockerfile")]
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


def compose_faults(path: Path) -> Iterator[str]:
    text = path.read_text()
    compose = yaml.safe_load(text)
    services: dict[str, Service] = compose["services"]
    if set(services) != OURS | SERVERS:
        yield f"services are {sorted(services)}, expected {sorted(OURS | SERVERS)}"
    for name, service in services.items():
        found = [*hardening(service), *health(name, service), *ports(name, service), *waiting(service, services)]
        yield from (f"{name}: {fault}" for fault in found)
        yield from (f"{name}: {fault}" for fault in volumes(service, compose["volumes"]))
    for name in OURS & services.keys():
        yield from (f"{name}: {fault}" for fault in settings_of(services[name]))
    for name in ("redis", "broker"):
        yield from (f"{name}: {fault}" for fault in keeping(services[name]["command"]))
    yield from (f"{needs} has no default" for needs in re.findall(r"\$\{\w+\}", text))


def hardening(service: Service) -> Iterator[str]:
    if not service.get("read_only"):
        yield "its file system is not read-only"
    if service.get("cap_drop") != ["ALL"] or "no-new-privileges:true" not in service.get("security_opt", []):
        yield "it keeps privileges"
    if not service.get("build") and not re.fullmatch(r"[\w./-]+:\d[\w.-]*", service["image"]):
        yield f"the image {service['image']} has no version"
    if service.get("build") != "." and service.get("user", "root").split(":")[0] in ("root", "0"):
        yield "it runs as root"


def health(name: str, service: Service) -> Iterator[str]:
    if name not in ONLY_ONCE and not service.get("healthcheck", {}).get("test"):
        yield "it has no health check"


def ports(name: str, service: Service) -> Iterator[str]:
    published = [port.rsplit(":", 1)[-1] for port in service.get("ports", [])]
    if published != ([PUBLISHED[name]] if name in PUBLISHED else []):
        yield f"it publishes {published}"
    if not all(port.startswith("127.0.0.1:") for port in service.get("ports", [])):
        yield "it publishes beyond loopback"


def waiting(service: Service, services: dict[str, Service]) -> Iterator[str]:
    for other, wait in service.get("depends_on", {}).items():
        if other not in services:
            yield f"it waits for {other}, which is not there"
        elif wait["condition"] == "service_healthy" and not services[other].get("healthcheck"):
            yield f"it waits for the health of {other}, which has no check"


def volumes(service: Service, declared: dict[str, Any]) -> Iterator[str]:
    for volume in service.get("volumes", []):
        if volume.split(":")[0] not in declared:
            yield f"the volume {volume} is not declared"


def settings_of(service: Service) -> Iterator[str]:
    """What `.env` says, but for where a container listens and which servers it has."""
    if service.get("env_file") != [{"path": ".env", "required": False}]:
        yield "it does not hear what .env says"
    if (service["environment"].get("HOST"), service["environment"].get("PORT")) != ("0.0.0.0", "8000"):  # noqa: S104
        yield "it listens where .env says, and nobody asks it there"


def keeping(command: list[str]) -> Iterator[str]:
    options = dict(zip(command[1::2], command[2::2], strict=True))
    if options.get("--appendonly") != "yes":
        yield "its AOF is off"
    if options.get("--maxmemory-policy") != "noeviction":
        yield "it may evict"


def dockerfile_faults(path: Path) -> Iterator[str]:
    text = path.read_text().replace("\\\n", " ")
    steps = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    for image in (rest.split()[0] for step, rest in steps if step == "FROM"):
        if not re.search(r":\d", image):
            yield f"the image {image} has no version"
    users = [rest for step, rest in steps if step == "USER"]
    if not users or users[-1] in ("root", "0"):
        yield "the image runs as root"
    if "--require-hashes" not in text:
        yield "packages are installed without their hashes"
    if not any(step == "CMD" and rest.startswith("[") for step, rest in steps):
        yield "CMD is not in exec form: signals would stop at a shell"
    copied = [source for step, rest in steps if step == "COPY" and "--from" not in rest for source in rest.split()[:-1]]
    yield from copy_faults(path.parent, copied)


def copy_faults(top: Path, copied: list[str]) -> Iterator[str]:
    allowed = [line[1:] for line in (top / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for source in copied:
        if not (top / source).exists():
            yield f"COPY {source}: there is no such file"
        if not any(fnmatch(source, pattern) or source.startswith(f"{pattern}/") for pattern in allowed):
            yield f"COPY {source}: .dockerignore holds it back"
    packages = {path.parent.name for path in top.glob("*/__init__.py")} - {"tests", "bench"}
    yield from (f"the package {package} is not copied" for package in sorted(packages - set(copied)))


if __name__ == "__main__":
    sys.exit(main())
