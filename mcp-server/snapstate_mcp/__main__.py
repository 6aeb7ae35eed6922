"""snapstate-mcp: SnapState for agents that speak MCP, over stdio or, with --http, over streamable HTTP."""

import argparse
import os
import sys
from importlib.metadata import version

import anyio
from snapstate_sdk.client import DEFAULT_URL
from snapstate_sdk.connection import address

from snapstate_mcp import logs, over_http
from snapstate_mcp.caller import KEY_VARIABLE, URL_VARIABLE
from snapstate_mcp.server import Bridge

EPILOG = f"""\
environment:
  {KEY_VARIABLE}  the API key (snp_…), over stdio; over HTTP every caller sends its own
  {URL_VARIABLE}  where SnapState is (default: {DEFAULT_URL})
"""


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    logs.to_stderr(options.log_level)
    api_url = options.api_url or os.environ.get(URL_VARIABLE) or DEFAULT_URL
    try:
        api_url = address(api_url)
    except ValueError as error:
        print(f"snapstate-mcp: {URL_VARIABLE} must be an http or https address: {error}", file=sys.stderr)
        return 2
    if options.http:
        return serve_http(options, api_url)
    anyio.run(Bridge(api_url, os.environ.get(KEY_VARIABLE, "").strip()).run_stdio_async)
    return 0


def serve_http(options: argparse.Namespace, api_url: str) -> int:
    hosts, origins = options.allow_host, options.allow_origin
    try:
        over_http.check_free(options.host, options.port)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        print(f"snapstate-mcp: cannot listen on {options.host}, port {options.port}: {reason}", file=sys.stderr)
        return 1
    over_http.run(
        Bridge(api_url, None), over_http.Listening(options.host, options.port, hosts, origins, options.sessions)
    )
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="snapstate-mcp",
        description="SnapState for agents that speak MCP: over stdin and stdout, or over HTTP.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"snapstate-mcp {version('snapstate-mcp')}")
    made.add_argument("--api-url", metavar="URL", help=f"where SnapState is, instead of {URL_VARIABLE}")
    made.add_argument("--http", action="store_true", help="serve streamable HTTP at /mcp instead of stdio")
    made.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    made.add_argument("--port", type=port, default=8765, help="port to listen on (default: 8765)")
    for name in ("host", "origin"):
        words = f"what {name.title()} may say besides our own address; repeatable"
        made.add_argument(f"--allow-{name}", action="append", default=[], metavar="NAME", help=words)
    words = "give clients sessions; without, each request stands for itself, at whichever process it arrives"
    made.add_argument("--sessions", action="store_true", help=words)
    made.add_argument("--log-level", default="INFO", choices=["DEBUG", "INFO", "WARNING", "ERROR"])
    return made


def port(text: str) -> int:
    """Raises ValueError, of which argparse makes a line."""
    if not 0 <= int(text) < 2**16:
        raise ValueError
    return int(text)


def script() -> None:
    sys.exit(main())


if __name__ == "__main__":
    script()
