"""`python -m tests.billing.syncer`: a process that tells Stripe what is billable, and ends."""

import os

import django

from snapstate_project.dev.home import BASE_DIR

if __name__ == "__main__":
    os.chdir(BASE_DIR)
    django.setup()
    __import__("billing.meter_reports", fromlist=["_"]).note_billable()
    __import__("billing.meter_reports", fromlist=["_"]).send_waiting()
