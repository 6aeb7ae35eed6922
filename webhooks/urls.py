"""The routes of webhooks."""

from django.urls import path

from webhooks import views

urlpatterns = [
    path("webhooks", views.WebhooksView.as_view()),
    path("webhooks/<str:webhook_id>", views.WebhookView.as_view()),
    path("webhooks/<str:webhook_id>/rotate-secret", views.SecretView.as_view()),
    path("webhooks/<str:webhook_id>/test", views.TestView.as_view()),
    path("webhooks/<str:webhook_id>/deliveries", views.DeliveriesView.as_view()),
    path("webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/resend", views.ResendView.as_view()),
]
