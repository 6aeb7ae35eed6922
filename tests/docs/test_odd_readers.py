"""Readers as they really come: with cut links, on paper, over plain http, zoomed in, offline, amid a release."""

import re

import pytest
from playwright.sync_api import expect

from tests.docs.browsing import CHROMIUM, browser_on

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"


@pytest.mark.parametrize("cut", ["%", "%E4%", "nowhere", "a%20b"])
def test_a_link_that_was_cut_short_still_shows_the_page(base_url: str, cut: str):
    with browser_on(base_url) as browsing:
        page = browsing.open(f"/docs/concepts#{cut}")
        assert page.get_by_role("heading", name="Concepts", level=1).is_visible()
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Pricing").click()
        page.get_by_role("heading", name="Pricing", level=1).wait_for()
        assert browsing.faults == []


def test_code_is_copied_where_there_is_no_clipboard(base_url: str):
    with browser_on(base_url) as browsing:
        browsing.page.add_init_script(NO_CLIPBOARD)
        page = browsing.open("/docs/pricing")
        page.get_by_role("button", name="Copy", exact=True).click()
        page.get_by_role("button", name="Copied").wait_for()
        page.get_by_role("button", name="Copy page").click()
        page.get_by_role("button", name="Copied").first.wait_for()
        assert browsing.faults == []


def test_who_reads_on_after_a_release_gets_the_page_as_it_is_now(base_url: str):
    with browser_on(base_url) as browsing:
        page = browsing.open("/docs/getting-started")
        page.route(re.compile(r"/assets/concepts-.*\.js"), lambda route: route.fulfill(status=404), times=1)
        page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name="Concepts").click()
        page.get_by_role("heading", name="Concepts", level=1).wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_there_is_the_text_alone_dark_on_light(base_url: str, scheme: str):
    with browser_on(base_url, color_scheme=scheme) as browsing:
        page = browsing.open("/docs/python-sdk")
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        page.emulate_media(media="print")
        assert not page.get_by_role("navigation", name="Pages", exact=True).is_visible()
        assert not page.get_by_role("button", name="Copy", exact=True).first.is_visible()
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 26, 39)"
        assert page.evaluate("[...document.querySelectorAll('pre')].every((e) => e.scrollWidth <= e.clientWidth + 1)")


def test_zoomed_to_twice_the_size_everything_is_within_reach(base_url: str):
    with browser_on(base_url, width=720, device_scale_factor=2) as browsing:
        for path in ("/", "/docs/", "/docs/concepts", "/docs/api-reference", "/docs/mcp-setup"):
            browsing.open(path)
            assert browsing.overflow() <= 0, path


@pytest.mark.parametrize("word", ["__proto__", "constructor", "*?[](", "  ", "Ünïcödé ✓", "a" * 3000, "<script>"])
def test_the_search_bears_any_word(base_url: str, word: str):
    with browser_on(base_url) as browsing:
        page = browsing.open("/docs/")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("combobox").fill(word)
        page.get_by_role("combobox").fill("etag")
        page.get_by_role("option").first.wait_for()
        assert browsing.faults == []


def test_by_keyboard_alone_one_finds_a_page_and_makes_a_call(base_url: str, key: str):
    with browser_on(base_url) as browsing:
        page = browsing.open("/docs/")
        page.keyboard.press("/")
        page.keyboard.type("GET /usage")
        page.get_by_role("option").filter(has_text="/usage").first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**/docs/api-reference#*")
        section = page.locator("section[aria-labelledby=usage]").or_(page.locator("section[aria-labelledby=get-usage]"))
        section.get_by_role("button", name="Try it").focus()
        page.keyboard.press("Enter")
        section.get_by_label("API key").focus()
        page.keyboard.type(key)
        page.keyboard.press("Enter")
        expect(section.get_by_role("status")).to_contain_text("200")
