"""The routes of analytics. Segments are raw: an id's own slash arrives as %2F."""

from django.urls import path

from analytics import views

urlpatterns = [
    path("analytics/overview", views.OverviewView.as_view()),
    path("analytics/failures", views.FailuresView.as_view()),
    path("analytics/agents", views.AgentsReportView.as_view()),
    path("analytics/workflows/<str:workflow_id>", views.WorkflowReportView.as_view()),
]
