"""The routes of billing."""

from django.urls import path

from billing.views import UsageView

urlpatterns = [path("usage", UsageView.as_view(), name="usage")]
