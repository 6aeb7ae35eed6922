"""`make up`: servers, migrations, a first account, the processes, one screen; a signal takes it all down again."""

import http.client
import os
import sys
import time
from pathlib import Path

from dotenv import load_dotenv

from snapstate_project.dev import children, orphans, preflight, screen
from snapstate_project.dev.errors import CannotStart
from snapstate_project.dev.home import BASE_DIR, home_folder, kept_secret, lock_home, make_home, read_dev_env
from snapstate_project.dev.postgres import Postgres
from snapstate_project.dev.process import Process
from snapstate_project.dev.supervisor import Interrupted, KeepsDying, Supervisor
from snapstate_project.dev.valkey import Valkey

PATIENCE_SECONDS = 60.0


def main() -> int:
    supervisor = Supervisor(screen.show)
    supervisor.listen()
    orphans.adopt()
    try:
        run(supervisor)
    except Interrupted:
        screen.write("\nSnapState has stopped.\n")
        return 0
    except (CannotStart, KeepsDying) as reason:
        sys.stdout.flush()
        sys.stderr.write(f"\nSnapState {'stops' if supervisor.processes else 'cannot start'}: {reason}\n")
        return 1
    raise AssertionError("it runs until something ends it")


def run(supervisor: Supervisor) -> None:
    read_env_file()
    if passed_over := preflight.pass_over_embedded(os.environ):
        supervisor.log(
            "make up", f"{', '.join(passed_over)} stem from a dev.env: passed over, servers are started here"
        )
    home = home_folder()
    port = preflight.port_from(os.environ)
    make_home(home)
    os.chdir(BASE_DIR)
    with lock_home(home):
        try:
            preflight.check_port(port)
            live(supervisor, home, port)
        finally:
            supervisor.stop()


def read_env_file() -> None:
    path = Path(os.environ.get("SNAPSTATE_ENV_FILE", BASE_DIR / ".env"))
    try:
        load_dotenv(path)
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(f"{path} cannot be read: {error}.") from None


def live(supervisor: Supervisor, home: Path, port: int) -> None:
    supervisor.log("make up", "starting the servers")
    elsewhere = start_servers(supervisor, home)
    set_environment(home, port)
    supervisor.log("make up", "migrating; making the first account")
    prepare(supervisor)
    supervisor.log("make up", "starting web, intake, worker, webhooks and beat")
    for process in children.processes(home, supervisor.log):
        supervisor.start(process)
    wait_until_ready(supervisor, port)
    screen.show_ready(home, read_dev_env(home), elsewhere)
    while True:
        supervisor.watch()


def start_servers(supervisor: Supervisor, home: Path) -> list[str]:
    """What is not given is started; says which data does not lie in the home."""
    elsewhere, embedded = [], []
    for name, variable in (("valkey", "REDIS_URL"), ("broker", "CELERY_BROKER_URL")):
        if given := os.environ.get(variable):
            preflight.check_redis(variable, given)
            elsewhere.append(f"{variable} is given: {preflight.without_password(given)}")
            continue
        server = Valkey(name, home / name, log=supervisor.log)
        supervisor.start(server)
        os.environ[variable] = server.url
        embedded.append(variable)
    if not os.environ.get("DATABASE_URL"):
        embedded.append("DATABASE_URL")
    elsewhere += start_postgres(supervisor, home)
    if embedded:
        os.environ[preflight.EMBEDDED] = preflight.mark_of(os.environ, embedded)
    return elsewhere


def start_postgres(supervisor: Supervisor, home: Path) -> list[str]:
    if given := os.environ.get("DATABASE_URL"):
        preflight.check_postgres("DATABASE_URL", given)
        return [f"DATABASE_URL is given: {preflight.without_password(given)}"]
    server = Postgres(home, log=supervisor.log)
    supervisor.start(server)
    os.environ["DATABASE_URL"] = server.url
    if server.folder.parent == home:
        return []
    return [f"Postgres in {server.folder}", "(it runs as the user nobody, who cannot enter the home)"]


def set_environment(home: Path, port: int) -> None:
    """What the processes read; secrets that nobody has given are made once and kept."""
    os.environ["PORT"] = str(port)
    os.environ["SNAPSTATE_HOME"] = str(home)
    os.environ["DJANGO_SETTINGS_MODULE"] = "snapstate_project.settings"
    for variable in ("DJANGO_SECRET_KEY", "ADMIN_SECRET"):
        if not os.environ.get(variable):
            os.environ[variable] = kept_secret(home, variable.lower())


def prepare(supervisor: Supervisor) -> None:
    command = [sys.executable, "-m", "snapstate_project.dev.prepare"]
    if not supervisor.run_once(Process("prepare", command, log=supervisor.log)):
        raise CannotStart("migrations and the first account could not be made; the reason stands above.")


def wait_until_ready(supervisor: Supervisor, port: int) -> None:
    told = time.monotonic()
    while (answer := ask_ready(port)) != "":
        supervisor.watch(seconds=0.25)
        if time.monotonic() - told > PATIENCE_SECONDS:
            told = time.monotonic()
            supervisor.log("make up", f"still waiting for /ready, which says: {answer}")


def ask_ready(port: int) -> str:
    """Empty when ready, else what is in the way."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/ready")
        response = connection.getresponse()
        body = response.read().decode(errors="replace")
        return "" if response.status == http.client.OK else body
    except (OSError, http.client.HTTPException) as error:
        return str(error)
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
