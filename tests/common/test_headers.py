"""CORS on the API and nowhere else; security headers on every page."""

import pytest

ORIGIN = {"Origin": "https://app.example"}
PREFLIGHT = {**ORIGIN, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.mark.parametrize("path", ["/checkpoints", "/workflows/w/resume", "/usage", "/health", "/openapi.json"])
def test_any_origin_may_call_the_api_without_credentials(anonymous, path):
    response = anonymous.get(path, headers=ORIGIN)
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers
    exposed = response.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"X-Request-Id", "ETag", "RateLimit-Limit", "RateLimit-Remaining", "Retry-After"} <= set(exposed)


@pytest.mark.parametrize("path", ["/checkpoints", "/workflows/w", "/usage", "/openapi.json"])
def test_a_preflight_is_answered_without_a_key(anonymous, path):
    response = anonymous.options(path, headers=PREFLIGHT)
    assert response.status_code == 204
    assert "Authorization" in response.headers["Access-Control-Allow-Headers"]
    assert "If-Match" in response.headers["Access-Control-Allow-Headers"]
    assert "PATCH" in response.headers["Access-Control-Allow-Methods"]


@pytest.mark.parametrize("path", ["/admin/accounts", "/admin/login/", "/"])
def test_no_other_origin_may_read_the_admin_or_a_page(anonymous, path):
    assert "Access-Control-Allow-Origin" not in anonymous.get(path, headers=ORIGIN).headers
    assert "Access-Control-Allow-Origin" not in anonymous.options(path, headers=PREFLIGHT).headers


@pytest.mark.parametrize("path", ["/", "/admin/login/", "/admin/nothing/"])
def test_every_page_says_what_it_may_load(anonymous, path):
    headers = anonymous.get(path, follow_redirects=True).headers
    assert headers["Content-Type"].startswith("text/html")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


def test_the_landing_page_runs_no_script_and_asks_nobody_else_for_anything(anonymous):
    page = anonymous.get("/")
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "unsafe-eval" not in page.headers["Content-Security-Policy"]
    assert "<script" not in page.text
    assert "//fonts" not in page.text


def test_the_landing_page_leads_to_the_api_and_the_admin(anonymous):
    page = anonymous.get("/").text
    for path in ("/openapi.json", "/admin/"):
        assert f'href="{path}"' in page
        assert anonymous.get(path, follow_redirects=True).status_code == 200


def test_static_files_of_the_admin_are_served_without_collecting_them(anonymous):
    response = anonymous.get("/static/admin/css/base.css")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/css")


def test_the_admin_without_its_slash_is_found(anonymous):
    assert anonymous.get("/admin").headers["Location"] == "/admin/"
