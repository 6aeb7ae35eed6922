"""Where the dataclasses were until 1.0; they are in `models` now."""

from snapstate_sdk.models import Agent, Checkpoint, SaveResult, WorkflowReplay, WorkflowResume

__all__ = ["Agent", "Checkpoint", "SaveResult", "WorkflowReplay", "WorkflowResume"]
