"""Routes of checkpoints and workflows. Segments are raw: an id's own slash arrives as %2F."""

from django.urls import path

from checkpoints import views

urlpatterns = [
    path("checkpoints", views.CheckpointsView.as_view()),
    path("workflows/<str:segment>/resume", views.ResumeView.as_view()),
    path("workflows/<str:segment>/replay", views.ReplayView.as_view()),
    path("checkpoints/<str:segment>", views.CheckpointView.as_view()),
    path("workflows/<str:segment>/diff", views.DiffView.as_view()),
    path("workflows", views.WorkflowsView.as_view()),
    path("workflows/<str:segment>", views.WorkflowView.as_view()),
]
