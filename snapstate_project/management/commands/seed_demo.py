"""A demo to look at: accounts whose agents have worked for a month, every workflow of theirs ready to be resumed."""

from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from accounts import services
from accounts.models import Account
from checkpoints.models import Workflow
from snapstate_project.common.bar import Bar
from snapstate_project.demo.population import Wanted, people
from snapstate_project.demo.seeding import Seeding
from snapstate_project.demo.shapes import LONGEST
from snapstate_project.env import env

HERE = ("localhost", "127.0.0.1", "::1")


class Command(BaseCommand):
    help = (
        "Fill this installation with made-up accounts, workflows, usage and webhooks. Nothing that is there is "
        "touched. The same --seed makes the same demo, so it goes in once. Beside make up: "
        "`set -a; . .snapstate/dev.env; set +a; DEBUG=true .venv/bin/python manage.py seed_demo`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        for name, count in (("accounts", 20), ("workflows", 2_000), ("checkpoints", 20_000)):
            parser.add_argument(f"--{name}", type=int, default=count, help=f"How many in all ({count:,}).")
        parser.add_argument("--seed", type=int, default=1, help="Another number makes another demo (1).")
        parser.add_argument("--force", action="store_true", help="Also where this looks like production.")

    def handle(self, *_args: Any, **options: Any) -> None:
        counts = {name: options[name] for name in ("accounts", "workflows", "checkpoints", "seed")}
        wanted = Wanted(**counts, now=timezone.now())
        refuse_nonsense(wanted)
        if not options["force"]:
            refuse_production()
        refuse_a_second_time(wanted)
        bar = Bar("rows of history")
        events_went_in = Seeding(wanted, bar.show).run()
        bar.end()
        if not events_went_in:
            self.stderr.write("Without events and deliveries: subscribers are behind, and would have counted twice.")
        self.say_how_to_look(people(wanted)[0].email)

    def say_how_to_look(self, email: str) -> None:
        account = Account.objects.get(email=email)
        _, secret = services.issue_key(account, label="demo")
        workflow = Workflow.objects.filter(account=account).order_by("-last_activity_at").first()
        base = env("SNAPSTATE_API_URL", settings.APP_URL)  # which dev.env says
        self.stdout.write(f"Look around at {base}/admin/. The busiest account is {email}; a key of it:\n")
        self.stdout.write(f"  {secret}\n")
        if workflow:
            path = f"{base}/workflows/{quote(workflow.workflow_id, safe='')}/resume"
            self.stdout.write(f"  curl -H 'Authorization: Bearer {secret}' '{path}'\n")


def refuse_nonsense(wanted: Wanted) -> None:
    if wanted.accounts < 1 or wanted.workflows < 1:
        raise CommandError("At least one account and one workflow.")
    if not wanted.workflows <= wanted.checkpoints <= LONGEST * wanted.workflows:
        raise CommandError(f"A workflow has from 1 to {LONGEST} checkpoints: --checkpoints does not fit --workflows.")


def refuse_production() -> None:
    """What is reached from elsewhere, or kept elsewhere, may be somebody's."""
    hosts = {urlsplit(settings.APP_URL).hostname, connection.settings_dict["HOST"] or "localhost"}
    if not hosts <= set(HERE):
        raise CommandError("This looks like production: APP_URL or DATABASE_URL is not on this machine (--force).")


def refuse_a_second_time(wanted: Wanted) -> None:
    owners = people(wanted)
    taken = Account.objects.filter(Q(email__in=[o.email for o in owners]) | Q(pk__in=[o.id for o in owners]))
    if found := taken.order_by("email").first():
        raise CommandError(f"{found.email} is there already: choose another --seed.")
