"""The room of checkpoints: save, resume, replay, erase."""

from django.apps import AppConfig


class CheckpointsConfig(AppConfig):
    name = "checkpoints"
