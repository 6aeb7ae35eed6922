"""The whole URL map. Hot routes stand first: each pattern that does not match costs every request after it."""

from django.contrib import admin
from django.urls import include, path, re_path

from snapstate_project import pages
from snapstate_project.health import HealthView, ReadyView

urlpatterns = [
    path("", include("checkpoints.urls")),
    path("", include("billing.urls")),
    path("health", HealthView.as_view()),
    path("ready", ReadyView.as_view()),
    path("openapi.json", pages.openapi),
    path("", pages.landing),
    # The Admin API has no trailing slashes, the admin's pages have them.
    path("", include("accounts.operator_urls")),
    path("admin", pages.admin_without_slash),
    path("admin/", admin.site.urls),
    re_path(r"", pages.no_such_route),
]

handler400 = "snapstate_project.pages.handler400"
handler404 = "snapstate_project.pages.handler404"
handler500 = "snapstate_project.pages.handler500"
