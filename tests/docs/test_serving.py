"""How the site is served: with and without the slash, compressed, cached for ever or not at all, strictly."""

import re

import pytest

from snapstate_project import docs_site

PAGES = [path.stem for path in sorted(docs_site.DIST.glob("*.html")) if path.stem not in ("404", "index")]
STRICT = ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'")


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/docs/getting-started", "/docs/getting-started/"])
def test_pages_are_found_with_and_without_the_slash(anonymous, path):
    response = anonymous.get(path)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1" in response.text


def test_a_page_can_be_read_without_its_script(anonymous):
    page = anonymous.get("/docs/pricing").text
    assert "<title>Pricing · SnapState</title>" in page
    assert "$51.90" in page


@pytest.mark.parametrize("path", ["/", "/docs/", "/docs/api-reference", "/docs/nothing-here"])
def test_nothing_inline_runs_or_paints(anonymous, path):
    response = anonymous.get(path)
    policy = response.headers["Content-Security-Policy"]
    assert [rule for rule in STRICT if rule not in policy] == []
    assert "unsafe" not in policy
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style| style=| on\w+=", response.text) == []


def test_assets_are_kept_for_ever_and_pages_asked_for_again(anonymous):
    page = anonymous.get("/docs/")
    assert page.headers["Cache-Control"] == "public, no-cache"
    assets = re.findall(r'"(/docs/assets/[^"]+)"', page.text)
    assert len(assets) >= 3
    assert {anonymous.get(asset).headers["Cache-Control"] for asset in assets} == {docs_site.FOREVER}


def test_a_page_that_has_not_changed_is_not_sent_again(anonymous):
    etag = anonymous.get("/docs/").headers["ETag"]
    response = anonymous.get("/docs/", headers={"If-None-Match": f'"other", {etag}'})
    assert (response.status_code, response.content) == (304, b"")


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip"), ("identity", None)],
)
def test_what_the_browser_takes_is_sent_smaller(anonymous, accepted, encoding):
    with anonymous.stream("GET", "/docs/", headers={"Accept-Encoding": accepted}) as response:
        assert response.headers.get("Content-Encoding") == encoding
        assert response.headers["Vary"] == "Accept, Accept-Encoding"
        assert int(response.headers["Content-Length"]) == len(b"".join(response.iter_raw()))


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/assets/nothing.js", "/docs/../manage.py", "/docs/404"])
def test_what_is_not_there_is_said_on_a_page(anonymous, path):
    response = anonymous.get(path.replace("..", "%2e%2e"))
    assert response.status_code == 404
    assert "There is no page here" in response.text


def test_only_reading_is_possible(anonymous):
    assert anonymous.post("/docs/", json={}).status_code == 405
    assert anonymous.head("/docs/").status_code == 200


@pytest.mark.parametrize("name", [*PAGES, "index"])
def test_every_page_has_a_twin_in_markdown(anonymous, name):
    response = anonymous.get(f"/docs/{name}.md")
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.text.startswith("# ")
    text = re.sub(r"^```.*?^```$", "", response.text, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^</?[A-Z]\w*|^import {|%\{", text, re.MULTILINE) == []


def test_who_asks_for_markdown_gets_it_under_the_page_s_own_address(anonymous):
    response = anonymous.get("/docs/pricing", headers={"Accept": "text/markdown, */*"})
    assert response.text.startswith("# Pricing\n")
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    browser = anonymous.get("/docs/pricing", headers={"Accept": "text/html, text/markdown;q=0.1"})
    assert browser.text.startswith("<!doctype html>")


def test_agents_find_every_page(anonymous):
    listed = re.findall(r"\(/docs/([\w-]+)\.md\)", anonymous.get("/docs/llms.txt").text)
    assert sorted(listed) == sorted([*PAGES, "index"])
    assert anonymous.get("/llms.txt").text == anonymous.get("/docs/llms.txt").text
    assert "POST /checkpoints" in anonymous.get("/docs/llms-full.txt").text


def test_the_reference_says_what_a_parameter_may_be(anonymous):
    replay = anonymous.get("/docs/api-reference.md").text.split("/replay`")[1].split("\nAnswers:")[0]
    assert "- `limit` (query, integer) Most per page. 1 to 1000. Default `100`." in replay
    listed = anonymous.get("/docs/api-reference").text.split("<code>stalled</code> is active")[1]
    assert "One of <code>active</code>" in re.sub("<!--.*?-->", "", listed)[:200]


def test_without_a_build_it_says_what_to_run(anonymous, monkeypatch, tmp_path):
    monkeypatch.setattr(docs_site, "DIST", tmp_path)
    response = anonymous.get("/docs/")
    assert response.status_code == 503
    assert "make docs" in response.text


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_and_places_that_are_there(anonymous, name):
    page = anonymous.get(f"/docs/{name}").text
    for path, anchor in set(re.findall(r'href="(/docs[^"#]*)?(?:#([^"]*))?"', page)):
        target = anonymous.get(path) if path else None
        assert target is None or target.status_code == 200, path
        assert not anchor or f'id="{anchor}"' in (target.text if target else page), f"{path}#{anchor}"
