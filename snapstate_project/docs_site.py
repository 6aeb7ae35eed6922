"""What people read: the landing page at / and the built documentation below /docs; no policy allows anything inline."""

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from snapstate_project.pages import read_only

DIST = Path(settings.BASE_DIR) / "docs" / "dist"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FOREVER = "public, max-age=31536000, immutable"  # the name of an asset changes with its content
ASK_AGAIN = "public, no-cache"
TYPES = {".md": "text/markdown", ".js": "text/javascript", ".woff2": "font/woff2"}
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""By preference."""


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    content_type: str
    etag: str  # weak: the same for each encoding
    encoded: dict[str, bytes] = field(default_factory=dict)


@read_only
def landing(request: HttpRequest) -> HttpResponse:
    context = {"base_url": settings.APP_URL.rstrip("/"), "version": settings.VERSION}
    return strict(render(request, "landing.html", context))


@read_only
def docs(request: HttpRequest, path: str | None = None) -> HttpResponse:
    files = built()
    if not files:
        return strict(render(request, "docs_not_built.html", status=503))
    name = (path or "").strip("/") or "index"
    found = files.get(name) or files.get(name + (".md" if asks_for_markdown(request) else ".html"))
    if found is None or name == "404":
        return answer(request, files["404.html"], cache_control=ASK_AGAIN, status=404)
    return answer(request, found, cache_control=FOREVER if name.startswith("assets/") else ASK_AGAIN)


def built() -> Mapping[str, File]:
    """Every file of the site by its path; read again when it was built anew, empty when it never was."""
    last = DIST / "404.html"  # what the build writes last of the pages
    return read_all(last.stat().st_mtime_ns) if last.exists() else {}


@lru_cache(maxsize=1)
def read_all(_built_at: int) -> Mapping[str, File]:
    paths = [path for path in DIST.rglob("*") if path.is_file() and path.suffix not in ENCODINGS.values()]
    return {path.relative_to(DIST).as_posix(): read(path) for path in paths}


def read(path: Path) -> File:
    content = path.read_bytes()
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if kind.startswith("text/") else ""
    smaller = {name: path.with_name(path.name + ending) for name, ending in ENCODINGS.items()}
    encoded = {name: file.read_bytes() for name, file in smaller.items() if file.exists()}
    return File(content, kind + charset, f'W/"{sha256(content).hexdigest()[:24]}"', encoded)


def answer(request: HttpRequest, file: File, *, cache_control: str, status: int = 200) -> HttpResponse:
    headers = {"Cache-Control": cache_control, "ETag": file.etag, "Vary": "Accept, Accept-Encoding"}
    if status == 200 and file.etag.removeprefix("W/") in etags_of(request):
        return strict(HttpResponse(status=304, headers=headers))
    encoding = next((name for name in accepted(request) if name in file.encoded), "")
    if encoding:
        headers["Content-Encoding"] = encoding
    content = file.encoded.get(encoding, file.content)
    return strict(HttpResponse(content, status=status, headers=headers, content_type=file.content_type))


def asks_for_markdown(request: HttpRequest) -> bool:
    """As agents do; browsers ask for HTML."""
    accepted = request.headers.get("Accept", "")
    return "text/markdown" in accepted and "text/html" not in accepted


def etags_of(request: HttpRequest) -> set[str]:
    return {etag.strip().removeprefix("W/") for etag in request.headers.get("If-None-Match", "").split(",")}


def accepted(request: HttpRequest) -> list[str]:
    """Of the encodings we have, those that the browser takes, the smaller first."""
    asked = [each.replace(" ", "").split(";q=") for each in request.headers.get("Accept-Encoding", "").split(",")]
    refused = {"0", "0.0", "0.00", "0.000"}
    taken = {name for name, *weight in asked if not refused.intersection(weight)}
    return [name for name in ENCODINGS if name in taken]


def strict(response: HttpResponse) -> HttpResponse:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
