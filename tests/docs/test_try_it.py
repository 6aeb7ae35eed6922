"""The playground of the API reference, against the live server: it saves and resumes, and keeps the key to itself."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page

from tests.docs.browsing import CHROMIUM, browser_on

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def page(base_url: str, key: str) -> Iterator[Page]:
    with browser_on(base_url) as browsing:
        yield browsing.open("/docs/api-reference")
        unexpected = [error for error in browsing.errors if "status of 401" not in error]
        assert (unexpected, browsing.outside) == ([], [])


def playground(page: Page, operation: str) -> Locator:
    section = page.locator(f"section[aria-labelledby={operation}]")
    section.scroll_into_view_if_needed()  # what is far away is not laid out yet
    section.get_by_role("button", name="Try it").click()
    return section.get_by_role("form")


def test_it_saves_and_resumes(page: Page, key: str, base_url: str):
    form = playground(page, "save-checkpoint")
    assert form.get_by_label("Server").input_value() == base_url
    form.get_by_label("API key").fill(key)
    form.get_by_role("button", name="Send").click()
    form.get_by_text("Created in").wait_for()
    shown = form.get_by_role("status")
    assert shown.get_by_text("201", exact=True).is_visible()
    assert '"checkpoint_id": "cp_docs-try-it_001"' in shown.locator(".answer-body").inner_text()
    shown.locator("summary").click()
    assert "x-request-id: " in shown.locator(".answer-headers").inner_text()
    assert " ms" in shown.inner_text()

    form = playground(page, "resume-workflow")
    assert form.get_by_label("API key").input_value() == key, "it is asked for once"
    form.get_by_label("workflow_id").fill("docs-try-it")
    form.get_by_role("button", name="Send").click()
    form.get_by_text("OK in").wait_for()
    assert '"the moon pulls"' in form.locator(".answer-body").inner_text()


def test_what_is_missing_or_refused_is_shown(page: Page):
    form = playground(page, "get-workflow")
    form.get_by_role("button", name="Send").click()
    assert "workflow_id is needed." in form.get_by_role("alert").inner_text()
    form.get_by_label("workflow_id").fill("a/b")
    form.get_by_role("button", name="Send").click()
    form.get_by_text("401").wait_for()
    assert "UNAUTHORIZED" in form.locator(".answer-body").inner_text()
    assert "/workflows/a%2Fb" in (form.locator(".as-curl pre").text_content() or "")


def test_the_key_is_kept_in_memory_only(page: Page, key: str):
    playground(page, "list-workflows").get_by_label("API key").fill(key)
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])")
    assert key not in kept
    page.reload()
    assert playground(page, "list-workflows").get_by_label("API key").input_value() == ""


def test_a_key_never_goes_to_another_server(page: Page, key: str):
    form = playground(page, "list-workflows")
    form.get_by_label("API key").fill(key)
    form.get_by_label("Server").fill("https://example.com")
    form.get_by_role("button", name="Send").click()
    assert "can be called" in form.get_by_role("alert").inner_text()
