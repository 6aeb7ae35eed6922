"""What the README says is so: its configurations start a bridge that answers, and it names what there is."""

import asyncio
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

README = (Path(__file__).parents[1] / "README.md").read_text()
CONFIGURATIONS = [
    json.loads(text)["mcpServers"]["snapstate"] for text in re.findall(r"```json\n(.*?)```", README, re.DOTALL)
]
STARTED = [one for one in CONFIGURATIONS if "command" in one]
FOLDER = Path(sys.executable).parent


def installed(command: str, arguments: list[str]) -> tuple[str, list[str]]:
    """What the command runs, from our environment; uvx would fetch the package first, and runs the script it names."""
    if command == "uvx":
        command, *arguments = arguments
    found = shutil.which(command, path=str(FOLDER))
    assert found, f"{command} is not installed"
    return found, arguments


@pytest.mark.parametrize("configuration", STARTED, ids=["Claude Desktop", "Cline", "Cursor"])
def test_a_configuration_starts_a_bridge_that_answers(api: Any, configuration: dict[str, Any]) -> None:
    command, arguments = installed(configuration["command"], configuration["args"])
    environment = {**configuration["env"], "SNAPSTATE_API_URL": api.url, "SNAPSTATE_API_KEY": "snp_" + "0" * 32}
    server = StdioServerParameters(command=command, args=arguments, env=environment)

    async def save() -> Any:
        async with Client(stdio_client(server)) as client:
            return await client.call_tool("save_checkpoint", {"workflow_id": "wf", "step": 1, "state": {}})

    assert not asyncio.run(save()).is_error
    assert [(method, path) for method, path, _ in api.seen] == [("POST", "/checkpoints")]
    assert set(configuration["env"]) == {"SNAPSTATE_API_KEY", "SNAPSTATE_API_URL"}


def test_the_tools_it_approves_only_read(ask: Any) -> None:
    tools = {tool.name: tool.annotations.read_only_hint for tool in ask(lambda client: client.list_tools()).tools}
    approved = {name for one in STARTED for name in one.get("autoApprove", [])}
    assert approved == {name for name, only_reads in tools.items() if only_reads}


def test_it_names_every_tool_prompt_and_resource(ask: Any) -> None:
    async def names(client: Client) -> list[str]:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        resources = [str(resource.uri) for resource in (await client.list_resources()).resources]
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        return tools + prompts + resources + templates

    found = ask(names)
    assert len(found) == 8
    assert [name for name in found if f"`{name}`" not in README] == []
