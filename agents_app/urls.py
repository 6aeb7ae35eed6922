"""The routes of agents."""

from django.urls import path

from agents_app.views import AgentsView, AgentView

urlpatterns = [
    path("agents", AgentsView.as_view()),
    path("agents/<str:agent_id>", AgentView.as_view()),
]
