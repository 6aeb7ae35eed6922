"""The whole URL map. Hot routes stand first, and flat: each pattern or include before one costs its every request."""

from django.contrib import admin
from django.urls import include, path, re_path

from agents_app import urls as agents
from analytics import urls as analytics
from billing import urls as billing
from checkpoints import urls as checkpoints
from snapstate_project import docs_site, operator_reads, operators, pages
from snapstate_project.health import HealthView, ReadyView
from snapstate_project.metrics import MetricsView
from webhooks import urls as webhooks

urlpatterns = [
    *checkpoints.urlpatterns,
    *agents.urlpatterns,
    *analytics.urlpatterns,
    *billing.urlpatterns,
    *webhooks.urlpatterns,
    path("health", HealthView.as_view()),
    path("ready", ReadyView.as_view()),
    path("metrics", MetricsView.as_view()),
    path("openapi.json", pages.openapi),
    path("", docs_site.landing),
    re_path(r"^docs(?:/(?P<path>.*))?$", docs_site.docs),
    path("llms.txt", docs_site.docs, {"path": "llms.txt"}),
    # The Admin API has no trailing slashes, the admin's pages have them.
    path("", include("accounts.operator_urls")),
    path("admin/accounts/<str:account_id>/usage", operators.AccountUsageView.as_view()),
    path("admin/accounts/<str:account_id>/invoices", operators.AccountInvoicesView.as_view()),
    path("admin/stats", operator_reads.StatsView.as_view()),
    path("admin/activity", operator_reads.ActivityView.as_view()),
    path("admin/workflows", operator_reads.WorkflowsView.as_view()),
    path("admin/analytics/overview", operator_reads.AllOverviewView.as_view()),
    path("admin/analytics/failures", operator_reads.AllFailuresView.as_view()),
    path("admin", pages.admin_without_slash),
    re_path(r"^admin/.*[^/]$", pages.no_such_route),
    path("admin/", admin.site.urls),
    re_path(r"^.*", pages.no_such_route),
]

handler400 = "snapstate_project.pages.handler400"
handler403 = "snapstate_project.pages.handler403"
handler404 = "snapstate_project.pages.handler404"
handler500 = "snapstate_project.pages.handler500"
