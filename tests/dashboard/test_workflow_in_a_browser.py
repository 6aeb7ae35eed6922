"""Workflows in a real Chromium: found, compared, looked into by permission, erased once the id is typed."""

import re
import uuid
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import expect

from checkpoints.models import Workflow
from tests.dashboard.browsing import CHROMIUM, Seen, chromium, grave_faults, overflow

LIST = "/admin/checkpoints/workflow/"
FORBIDDEN = ("the server responded with a status of 403",)
"""Which Chromium writes to the console for a page that a viewer is refused."""

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def wf():
    return f"browse/{uuid.uuid4().hex[:12]}"


@pytest.fixture
def row(api, account, intake, wf):
    """Seven steps, the last failed; its path in the admin."""
    for step in range(1, 8):
        state = {"n": step, "big": 9007199254740993, "found": [{"id": k} for k in range(step)], "note": "as before"}
        body = {"workflow_id": wf, "step": step, "state": state, "agent_id": "planner", "label": f"label {step}"}
        if step == 7:
            body |= {"status": "failed", "error": {"type": "ToolTimeout", "message": "no answer in 30 s"}}
        api.post("/checkpoints", json=body).raise_for_status()
    intake()
    return f"{LIST}{Workflow.objects.get(account=account).pk}/"


@pytest.fixture
def browse(base_url):
    """A page signed in as somebody, on a screen so wide; it was quiet, and asked nobody else, when it is left."""

    def run(client, visit, *, width=1440, expected=()):
        seen = Seen(urlsplit(base_url).netloc)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        with chromium(base_url, width=width) as context:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base_url}])
            page = context.new_page()
            seen.watch(page, expected=expected)
            visit(page)
        assert (seen.errors, seen.strangers) == ([], [])

    return run


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_of_workflows_fit_and_are_for_everybody(browse, admin_client, row, account, width):
    paths = [f"{LIST}?account={account.email}", f"{LIST}?q=nobody", *(f"{row}{rest}/" for rest in (
        "change", "diff", "state/7", "erase"))]  # fmt: skip

    def visit(page):
        for path in paths:
            page.goto(path, wait_until="networkidle")
            assert (overflow(page) <= 0, grave_faults(page)) == (True, []), path

    browse(admin_client, visit, width=width)


def test_a_workflow_is_found_and_two_of_its_steps_compared(browse, admin_client, row, wf):
    def visit(page):
        page.goto(LIST)
        page.fill("#searchbar", wf)
        page.press("#searchbar", "Enter")
        page.click(f"text={wf}")
        expect(page.get_by_text("no answer in 30 s")).to_be_visible()
        page.fill("#compare-from", "2")
        page.fill("#compare-to", "4")
        page.click("button:has-text('Compare')")
        changed = page.locator("tr.changed").filter(has_text=re.compile(r"^\s*n\s"))
        expect(changed.locator(".before")).to_have_text("2")
        expect(changed.locator(".after")).to_have_text("4")
        expect(page.locator("tr.added")).to_have_count(2)

    browse(admin_client, visit)


@pytest.mark.parametrize(("width", "is_below"), [(390, True), (1440, False)])
def test_a_change_is_told_in_whole_words(browse, admin_client, api, intake, account, wf, width, is_below):
    """Beside a long value a path is not broken; on a small screen the value stands below it, as wide as the page."""
    for step, said in enumerate(("no", "The ledger shows one payment, the gateway two; the claim is disputed."), 1):
        state = {"messages": [{"content": said, "role": "triage"}]}
        api.post("/checkpoints", json={"workflow_id": wf, "step": step, "state": state}).raise_for_status()
    intake()
    diff = f"{LIST}{Workflow.objects.get(account=account).pk}/diff/"

    def visit(page):
        page.goto(diff)
        path, value = page.locator(".path").first.bounding_box(), page.locator("code.after").first.bounding_box()
        assert path["height"] < 30
        assert (value["y"] > path["y"] + path["height"]) is is_below
        assert value["width"] > 250

    browse(admin_client, visit, width=width)


def test_a_state_opens_as_a_tree_with_its_numbers_as_sent(browse, admin_client, row):
    def visit(page):
        page.goto(f"{row}change/")
        page.click("[aria-label='State of step 7']")
        tree = page.locator("[data-tree]")
        expect(tree.get_by_text("9007199254740993")).to_be_visible()
        expect(tree.get_by_text("id: ")).to_have_count(0)
        page.click("text=Open all")
        expect(tree.locator(".key", has_text="id")).to_have_count(7)
        page.click("[data-copy]")
        page.get_by_text("Copied").wait_for()
        assert '"big":9007199254740993' in page.evaluate("navigator.clipboard.readText()")

    browse(admin_client, visit)


def test_a_viewer_sees_steps_and_no_state(browse, member, row):
    def visit(page):
        page.goto(f"{row}change/")
        expect(page.get_by_role("link", name="What step 7 changed")).to_be_visible()
        expect(page.get_by_text("State", exact=True)).to_have_count(0)
        expect(page.get_by_text("Erase", exact=True)).to_have_count(0)
        page.goto(f"{row}diff/")
        expect(page.get_by_text("The values are for those who may see states.")).to_be_visible()
        assert page.goto(f"{row}state/7/").status == 403

    browse(member("viewers"), visit, expected=FORBIDDEN)


def test_it_is_erased_once_its_id_is_typed(browse, admin_client, row, wf, api):
    def visit(page):
        page.goto(f"{row}erase/")
        page.fill("[name=typed]", wf[:-1])
        page.click("button:has-text('Erase for good')")
        expect(page.get_by_text("This is not the id of this workflow.")).to_be_visible()
        page.fill("[name=typed]", wf)
        page.click("button:has-text('Erase for good')")
        expect(page.get_by_text(f"Erased: {wf}")).to_be_visible()

    browse(admin_client, visit)
    assert api.get(f"/workflows/{wf.replace('/', '%2F')}").status_code == 404
