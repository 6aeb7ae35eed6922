"""Routes of checkpoints and workflows. Segments are raw: an id's own slash arrives as %2F."""

from django.urls import path

from checkpoints import views

urlpatterns = [
    path("checkpoints", views.CheckpointsView.as_view()),
    path("workflows/<str:workflow_id>/resume", views.ResumeView.as_view()),
    path("workflows/<str:workflow_id>/replay", views.ReplayView.as_view()),
    path("checkpoints/<str:checkpoint_id>", views.CheckpointView.as_view()),
    path("workflows/<str:workflow_id>/diff", views.DiffView.as_view()),
    path("workflows", views.WorkflowsView.as_view()),
    path("workflows/<str:workflow_id>", views.WorkflowView.as_view()),
]
