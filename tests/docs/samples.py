"""The code on the site's pages, as their fences mark it: what is run, what is only shown and why, what it prints.

```python run                  a script of its own, run with SNAPSTATE_API_URL and SNAPSTATE_API_KEY in its environment
```python save="agent.py"      put beside the others of its page under this name; with `run`, run as well
```bash run exit="1"           must end with this status
```bash run story="python"     belongs to the samples of that language: the same folder
```bash norun="installs"       not run, and why
```javascript run="receiver"   run by the runner of that name (tests/docs/test_receivers.py)
```output                      what the sample before prints; an ellipsis stands for anything
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from snapstate_project.dev.home import BASE_DIR

PAGES = BASE_DIR / "docs" / "src" / "pages"
RUNNABLE = {"python", "javascript", "typescript", "bash", "go"}
PARSED = {"json"}
SHOWN = {"text", "output", "http", "ini", "yaml", "toml"}
FENCE = re.compile(
    r"^(?P<mark>`{3,})(?P<language>[\w-]*) ?(?P<meta>[^\n]*)\n(?P<code>.*?)^(?P=mark)$", re.MULTILINE | re.DOTALL
)
META = re.compile(r'(\w+)(?:="([^"]*)")?')


@dataclass(slots=True)
class Sample:
    page: str
    line: int
    language: str
    meta: dict[str, str]
    code: str
    output: str | None = field(default=None)

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def story(self) -> str:
        return self.meta.get("story", self.language)

    @property
    def fault(self) -> str:
        """What is wrong with how it is marked; empty when nothing is."""
        known = RUNNABLE | PARSED | SHOWN
        unknown = set(self.meta) - {"title", "run", "norun", "save", "exit", "story"}
        if self.language not in known or unknown:
            return f"{self.place}: {self.language or 'no language'} {' '.join(unknown)}".strip()
        marked = {"run", "norun", "save"} & set(self.meta)
        if self.language in RUNNABLE and not marked:
            return f"{self.place}: {self.language} is neither run, saved nor said why not"
        if "norun" in self.meta and not self.meta["norun"]:
            return f"{self.place}: norun needs its reason"
        figures = re.search(r"%\{(limits|plan|version)", self.code)
        return f"{self.place}: no figure is filled in within code" if figures else ""


def samples_of(path: Path) -> Iterator[Sample]:
    text = path.read_text()
    before: Sample | None = None
    for found in FENCE.finditer(text):
        meta = dict(META.findall(found["meta"]))
        line = text.count("\n", 0, found.start()) + 1
        sample = Sample(path.stem, line, found["language"], meta, found["code"])
        if sample.language == "output" and before is not None:
            before.output = sample.code
        else:
            before = sample
        yield sample


def samples() -> list[Sample]:
    return [sample for path in sorted(PAGES.glob("*.md*")) for sample in samples_of(path)]


def prints(sample: Sample, printed: str) -> bool:
    """Whether it printed what the page says, but for what an ellipsis leaves open."""
    if sample.output is None:
        return True
    pattern = ".*?".join(re.escape(part) for part in sample.output.strip().split("…"))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None
