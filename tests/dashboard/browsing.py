"""A real Chromium for these tests: what it asks of whom, what stands in its console, and what axe finds on a page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
GRAVE = ("serious", "critical")
IS_DRAWN = """canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let drawn = 0;
    for (let at = 3; at < pixels.length; at += 4) if (pixels[at]) drawn += 1;
    return drawn;
}"""


@dataclass
class Seen:
    """What went wrong behind a page, gathered while it was used."""

    host: str
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def watch(self, page: Page, *, expected: tuple[str, ...] = ()) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.note(request.url))
        page.on("console", lambda said: self.say(said.text, expected) if said.type in ("error", "warning") else None)

    def say(self, text: str, expected: tuple[str, ...]) -> None:
        if not any(each in text for each in expected):
            self.errors.append(text)

    def note(self, url: str) -> None:
        if not url.startswith(("data:", "blob:")) and urlsplit(url).netloc != self.host:
            self.strangers.append(url)


@contextmanager
def chromium(base_url: str, *, width: int = 1440, dark: bool = False) -> Iterator[BrowserContext]:
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        context = browser.new_context(
            base_url=base_url, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context


def grave_faults(page: Page) -> list[str]:
    """What axe-core calls serious or critical, by rule and place."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['target']} {node.get('failureSummary', '')}"
        for fault in found
        if fault["impact"] in GRAVE
        for node in fault["nodes"]
    ]


def overflow(page: Page) -> int:
    pixels: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return pixels
