"""The Admin API's routes: no trailing slashes, so none meets a page of Django's admin, whose paths all have one."""

from django.urls import path

from accounts.operator_views import AccountsView, AccountView, KeysView, KeyView

urlpatterns = [
    path("admin/accounts", AccountsView.as_view()),
    path("admin/accounts/<str:account_id>", AccountView.as_view()),
    path("admin/accounts/<str:account_id>/keys", KeysView.as_view()),
    path("admin/accounts/<str:account_id>/keys/<str:key_id>", KeyView.as_view()),
]
