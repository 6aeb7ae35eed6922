"""The site as readers meet it in a browser: every page, small and large, light and dark, and what they do there."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from snapstate_project.docs_site import DIST
from tests.docs.browsing import CHROMIUM, Browsing, browser_on

PAGES = [f"/docs/{path.stem}".replace("/index", "/") for path in sorted(DIST.glob("*.html")) if path.stem != "404"]
ALL = ["/", *PAGES]

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def site(base_url: str) -> Iterator[Browsing]:
    with browser_on(base_url) as browsing:
        yield browsing
        assert browsing.faults == []


def test_all_pages_are_there():
    assert len(PAGES) >= 8, "docs/dist is not built: run make docs"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_quiet_fits_asks_nobody_else_and_can_be_used_by_all(base_url: str, width: int, scheme: str):
    found: dict[str, object] = {}
    with browser_on(base_url, width=width, color_scheme=scheme, reduced_motion="reduce") as browsing:
        for path in ALL:
            page = browsing.open(path)
            assert page.locator("h1").count() == 1, path
            assert browsing.overflow() <= 0, path
            found[path] = [*browsing.faults, *browsing.inaccessible()]
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_search_finds_a_section_and_leads_there(site: Browsing):
    page = site.open("/docs/")
    page.keyboard.press("/")
    page.keyboard.type("guards saving again")
    page.get_by_role("option").first.wait_for()
    assert "guards" in page.get_by_role("option").first.inner_text().lower()
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/concepts#saving-again-and-guards")
    page.locator("#saving-again-and-guards").wait_for()


def test_search_finds_endpoints_and_says_when_there_is_nothing(site: Browsing):
    page = site.open("/docs/pricing")
    page.get_by_role("button", name="Search").click()
    page.keyboard.type("rotate-secret")
    page.get_by_role("option").filter(has_text="POST /webhooks/{webhook_id}/rotate-secret").wait_for()
    page.get_by_role("combobox").fill("zzyzx")
    page.get_by_text("Nothing is said about that.").wait_for()
    page.keyboard.press("Escape")
    assert not page.get_by_role("combobox").is_visible()


def test_a_language_once_chosen_is_chosen_on_every_page(site: Browsing):
    page = site.open("/docs/getting-started")
    page.get_by_role("tab", name="Python").first.click()
    assert page.get_by_role("tab", name="Python", selected=True).count() == 3
    page = site.open("/docs/")
    assert page.get_by_role("tab", name="Python", selected=True).count() == 1
    assert page.get_by_text("from snapstate_sdk import SnapStateClient").is_visible()


def test_code_is_copied_as_it_stands(site: Browsing):
    page = site.open("/docs/")
    page.get_by_role("button", name="Copy", exact=True).first.click()
    page.get_by_role("button", name="Copied").first.wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith('curl -X POST "$SNAPSTATE_API_URL/checkpoints" \\\n')


def test_a_whole_page_is_copied_as_markdown(site: Browsing):
    page = site.open("/docs/pricing")
    page.get_by_role("button", name="Copy page").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# Pricing\n")
    assert "| Resumes | 5,000 | $0.0005 each |" in copied


def test_a_deep_link_leads_to_its_place_and_still_does_after_a_reload(site: Browsing):
    page = site.open("/docs/")
    page.goto("/docs/concepts#limits")
    for _ in range(2):
        expect(page.get_by_role("heading", name="Limits")).to_be_in_viewport()
        page.reload()
    page.get_by_role("heading", name="Limits").hover()
    page.get_by_role("heading", name="Limits").get_by_role("link").click()
    assert page.url.endswith("/docs/concepts#limits")


def test_without_scripts_everything_can_be_read(base_url: str):
    with browser_on(base_url, java_script_enabled=False) as browsing:
        page = browsing.page
        page.goto("/docs/")
        assert page.get_by_text("from snapstate_sdk import SnapStateClient").is_visible()
        assert page.get_by_text("curl -X POST").is_visible()
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Pricing").click()
        assert page.get_by_test_id("total").inner_text() == "$51.90"
        assert browsing.faults == []


def test_one_walks_from_page_to_page_without_loading_anew(site: Browsing):
    page = site.open("/docs/getting-started")
    page.evaluate("window.still = true")
    page.locator("a[rel=next]").click()
    page.wait_for_url("**/docs/concepts")
    page.get_by_role("heading", name="Concepts", level=1).wait_for()
    assert page.title() == "Concepts · SnapState"
    page.go_back()
    page.get_by_role("heading", name="Getting Started", level=1).wait_for()
    assert page.evaluate("window.still") is True


def test_the_theme_is_remembered(site: Browsing):
    page = site.open("/docs/")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_the_menu_opens_on_a_phone(base_url: str):
    with browser_on(base_url, width=390) as browsing:
        page = browsing.open("/docs/")
        assert not page.get_by_role("link", name="Webhooks").is_visible()
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("link", name="Webhooks").click()
        page.get_by_role("heading", name="Webhooks", level=1).wait_for()
        assert not page.get_by_role("link", name="Pricing").is_visible()


def test_the_landing_page_tells_its_story_and_stands_still_when_asked(base_url: str):
    running = "document.getAnimations().filter((each) => each.playState === 'running').length"
    with browser_on(base_url) as browsing:
        assert browsing.open("/").evaluate(running) > 0
    with browser_on(base_url, reduced_motion="reduce") as browsing:
        page = browsing.open("/")
        assert page.evaluate(running) == 0
        assert page.get_by_text("kill -9").is_visible()
        page.get_by_role("link", name="Save your first checkpoint").click()
        page.get_by_role("heading", name="Getting Started", level=1).wait_for()
