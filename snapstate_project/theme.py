"""How the admin looks: a setting like any other, but that no environment has a say in it."""

from typing import Any

from django.urls import reverse_lazy

ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' "
    "rx='8' fill='%234f46e5'/><path d='M9 10h14M9 16h14M9 22h8' stroke='white' stroke-width='3' "
    "stroke-linecap='round'/></svg>"
)
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "SnapState",
    "SITE_HEADER": "SnapState",
    "SITE_SUBHEADER": "for operators",
    "SITE_ICON": ICON,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": ICON}],
    "SITE_URL": "/",
    "SHOW_VIEW_ON_SITE": False,
    "SCRIPTS": ["/static/admin_pages/pages.js"],
    "STYLES": ["/static/admin_pages/pages.css"],
    "DASHBOARD_CALLBACK": "snapstate_project.dashboard.index",
    "ACCOUNT": {
        "navigation": [
            {"title": "Change password", "link": reverse_lazy("admin:password_change")},
            {"title": "Second factor", "link": reverse_lazy("admin:second_factor")},
        ]
    },
    "SIDEBAR": {"show_search": True, "navigation": "snapstate_project.dashboard.navigation"},
    "COLORS": {
        "primary": {
            "50": "#eef2ff",
            "100": "#e0e7ff",
            "200": "#c7d2fe",
            "300": "#a5b4fc",
            "400": "#818cf8",
            "500": "#6366f1",
            "600": "#4f46e5",
            "700": "#4338ca",
            "800": "#3730a3",
            "900": "#312e81",
            "950": "#1e1b4b",
        }
    },
}
