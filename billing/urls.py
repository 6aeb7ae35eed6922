"""The routes of billing."""

from django.urls import path

from billing.views import StripeWebhookView, UsageView

urlpatterns = [
    path("usage", UsageView.as_view(), name="usage"),
    path("billing/stripe-webhook", StripeWebhookView.as_view()),
]
