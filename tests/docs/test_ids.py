"""Whoever follows one page after the other, on one account, finds none of their workflows begun by another page."""

import re
from collections import defaultdict
from pathlib import Path

from snapstate_project.dev.home import BASE_DIR
from tests.docs.samples import PAGES, samples_of

README_FILES = [BASE_DIR / folder / "README.md" for folder in ("", "sdk-python", "sdk", "mcp-server")]
DOCUMENTS = [*sorted(PAGES.glob("*.md*")), *README_FILES, BASE_DIR / "sdk-python" / "ADAPTERS.md"]
LANDING = BASE_DIR / "templates" / "landing.html"
RUN = {"python", "javascript", "typescript", "bash", "sh", "js", "ts"}
SAVES = re.compile(
    r"""(?:"workflow_id":\s*|workflow_id=|workflowId:\s*|"thread_id":\s*"""
    r"""|(?:save|workflow|SnapStateSession)(?:<\w+>)?\(\s*)f?"([^"]+)"|snapstate\ save\ (\S+)"""
)


def ids_in(text: str) -> set[str]:
    """The workflows, threads and sessions that a sample saves to, whatever language it is in."""
    return {found[1] or found[2] for found in SAVES.finditer(text)}


def ids_of(path: Path) -> set[str]:
    return {name for sample in samples_of(path) if sample.language in RUN for name in ids_in(sample.code)}


def test_each_workflow_is_saved_by_the_samples_of_one_page():
    pages = defaultdict(list)
    for path in DOCUMENTS:
        for name in ids_of(path):
            pages[name].append(str(path.relative_to(BASE_DIR)))
    for name in ids_in(LANDING.read_text()):
        pages[name].append(LANDING.name)
    assert {name: where for name, where in pages.items() if len(where) > 1} == {}
    assert len(pages) > 25  # samples that save in a way that is not known here would prove nothing


def test_ids_are_found_in_every_language():
    texts = [
        """-d '{"workflow_id": "a", "step": 1}'""",
        'client.save("a", 1, {})',
        'client.async_save(\n    "a", 1, {})',
        'client.save({ workflowId: "a", step: 1 })',
        'await client.workflow<Notes>("a", {})',
        "echo '{}' | snapstate save a --label b",
        '{"configurable": {"thread_id": "a"}}',
        'SnapStateSession("a", client)',
    ]
    assert [ids_in(text) for text in texts] == [{"a"}] * len(texts)
