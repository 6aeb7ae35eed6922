"""The examples of the adapters do what they say, run as anybody would run them."""

import os
import subprocess
import sys

from snapstate_sdk import SnapStateClient

from snapstate_project.dev.home import BASE_DIR


def printed(base_url: str, key: str, *command: str) -> list[str]:
    environment = {**os.environ, "SNAPSTATE_API_URL": base_url, "SNAPSTATE_API_KEY": key}
    run = subprocess.run(
        [sys.executable, *command],
        cwd=BASE_DIR / "sdk-python" / "examples",
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_langgraph_example_waits_for_somebody_to_agree_and_goes_on(base_url: str, key: str) -> None:
    first = printed(base_url, key, "langgraph_agent.py", "tides")
    assert [line.split()[0] for line in first] == ["search", "read", "__interrupt__", "Publish"]
    again = printed(base_url, key, "langgraph_agent.py", "tides")
    assert again[-1] == first[-1] == "Publish 2 notes on tides?"
    assert printed(base_url, key, "langgraph_agent.py", "tides", "yes")[-1] == "published: True"


def test_the_openai_agents_example_remembers_what_another_process_was_told(base_url: str, key: str) -> None:
    printed(base_url, key, "openai_agents_session.py", "chat-1", "I like tea.")
    said = printed(base_url, key, "openai_agents_session.py", "chat-1", "And the sea.")
    assert said == ["You told me: I like tea. And the sea.", "4 items in openai-agents~chat-1"]
    with SnapStateClient(key, base_url) as client:
        assert client.resume("openai-agents~chat-1").latest_checkpoint.agent_id == "example.listener"
