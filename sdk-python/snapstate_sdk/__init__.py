"""The Python client of SnapState: save the work of agents, resume it, replay it."""

from snapstate_sdk.client import CheckpointClient, SnapStateClient
from snapstate_sdk.errors import (
    AuthError,
    CheckpointError,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateError,
    UnsendableTypeError,
    UnsendableValueError,
    ValidationError,
    WebhookVerificationError,
)
from snapstate_sdk.models import (
    Agent,
    Checkpoint,
    Diff,
    ErrorSeen,
    SaveResult,
    StepsDiff,
    WorkflowPage,
    WorkflowReplay,
    WorkflowResume,
    WorkflowSummary,
)
from snapstate_sdk.session import AsyncWorkflowSession, WorkflowSession
from snapstate_sdk.version import __version__
from snapstate_sdk.webhooks import verify_webhook

__all__ = [
    "Agent",
    "AsyncWorkflowSession",
    "AuthError",
    "Checkpoint",
    "CheckpointClient",
    "CheckpointError",
    "ConflictError",
    "ConnectionFailedError",
    "Diff",
    "ErrorSeen",
    "ForbiddenError",
    "NotFoundError",
    "PayloadTooLargeError",
    "RateLimitError",
    "SaveResult",
    "ServiceUnavailableError",
    "SnapStateClient",
    "SnapStateError",
    "StepsDiff",
    "UnsendableTypeError",
    "UnsendableValueError",
    "ValidationError",
    "WebhookVerificationError",
    "WorkflowPage",
    "WorkflowReplay",
    "WorkflowResume",
    "WorkflowSession",
    "WorkflowSummary",
    "__version__",
    "verify_webhook",
]
