"""A Chromium on a page of the site: what its console said, whom it asked, how wide it is, what axe finds."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SERIOUS = ("serious", "critical")


class Browsing:
    def __init__(self, page: Page, base_url: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: self.outside.append(asked.url) if is_outside(asked.url, base_url) else None)

    def open(self, path: str) -> Page:
        self.page.goto(path, wait_until="networkidle")
        return self.page

    @property
    def faults(self) -> list[str]:
        return [*self.errors, *self.outside]

    def overflow(self) -> int:
        pixels: int = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return pixels

    def inaccessible(self) -> list[str]:
        """Serious faults, each with the elements that have it."""
        found = Axe().run(self.page).response["violations"]
        serious = [each for each in found if each["impact"] in SERIOUS]
        return [f"{each['id']}: {[node['target'] for node in each['nodes'][:4]]}" for each in serious]


def is_outside(url: str, base_url: str) -> bool:
    return not url.startswith((base_url, "data:", "blob:"))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Playwright runs an event loop in this thread, where Django then refuses its ORM: rows are made before."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        yield browser


@contextmanager
def visit(browser: Browser, base_url: str, *, width: int = 1440, **options: Any) -> Iterator[Browsing]:
    """Somebody who was never here before."""
    context = browser.new_context(base_url=base_url, viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(15_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield Browsing(context.new_page(), base_url)
    context.close()


@contextmanager
def browser_on(base_url: str, **options: Any) -> Iterator[Browsing]:
    with chromium() as browser, visit(browser, base_url, **options) as browsing:
        yield browsing
