"""Retention by hand: what would go, or take it now."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import filesizeformat

from accounts.models import Account
from checkpoints import retention


class Command(BaseCommand):
    help = "Delete checkpoints that accounts and workflows do not keep (keep_last, archive_days). Try --dry-run first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only say what would go.")
        parser.add_argument("--account", metavar="EMAIL", help="Look at this account alone.")

    def handle(self, *_args: Any, **options: Any) -> None:
        email = options["account"]
        if email and not Account.objects.filter(email=email.lower()).exists():
            raise CommandError(f"There is no account {email}.")
        done = retention.prune(dry_run=options["dry_run"], email=email)
        verb = "would go" if options["dry_run"] else "deleted"
        size = filesizeformat(done.state_bytes).replace("\xa0", " ")
        self.stdout.write(f"{done.checkpoints} checkpoints of {done.workflows} workflows {verb}, {size} of states.")
        if done.skipped:
            self.stdout.write(f"{done.skipped} workflows were being saved to and wait for the next pass.")
        if done.failures:
            raise CommandError(f"{len(done.failures)} workflows could not be read and stay as they are: see the log.")
