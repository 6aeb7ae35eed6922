"""What the README tells a newcomer to type works as it stands there."""

import re
import shutil
import subprocess
import sys

import pytest

from snapstate_project.dev.home import BASE_DIR

needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


def block(language, containing):
    """The code block of the README that has these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (BASE_DIR / "README.md").read_text(), re.DOTALL)
    return next(text for text in blocks if containing in text)


@needs_curl
def test_the_shell_lines_save_and_resume(running):
    script = block("sh", "research-42").replace(".snapstate/dev.env", str(running.home / "dev.env"))
    output = subprocess.check_output(["sh", "-ec", script], text=True)
    assert output.count('"checkpoint_id":"cp_research-42_001"') == 2


def test_the_python_lines_save_and_go_on_when_they_are_run_again(running):
    command = [sys.executable, "-c", block("python", "research-43")]
    outputs = [subprocess.check_output(command, env={**running.env, **running.dev_env}, text=True) for _ in range(2)]
    assert outputs == [
        "2 {'topic': 'tides', 'notes': ['the moon pulls']}\n",
        "4 {'topic': 'tides', 'notes': ['the moon pulls', 'the moon pulls']}\n",
    ]
