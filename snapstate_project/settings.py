"""Every setting, each from the environment or `.env`; a wrong value stops `manage.py check`, never a request."""

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from snapstate_project.env import database, env, env_bool, env_choice, env_int, env_list, env_url
from snapstate_project.theme import UNFOLD  # noqa: F401 (a setting)

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]


def archive_storage() -> dict[str, Any]:
    """Cloudflare R2, or any S3, when R2_* says so; a local folder otherwise."""
    account = env("R2_ACCOUNT_ID")
    endpoint = env_url("R2_ENDPOINT", f"https://{account}.r2.cloudflarestorage.com" if account else "")
    keys = {"access_key": env("R2_ACCESS_KEY_ID"), "secret_key": env("R2_SECRET_ACCESS_KEY")}
    if not (endpoint or any(keys.values())):
        folder = {"location": SNAPSTATE_HOME / "archive", "allow_overwrite": True}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": folder}
    if not (endpoint and all(keys.values())):
        raise ImproperlyConfigured("R2_ACCOUNT_ID or R2_ENDPOINT, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY: all or none")
    bucket = {"bucket_name": env("R2_BUCKET_NAME", "checkpoint-archives"), "verify": env("R2_CA_BUNDLE") or None}
    return {"BACKEND": "snapstate_project.common.r2.R2Storage", "OPTIONS": {"endpoint_url": endpoint, **keys, **bucket}}


# --- The server ---
DEBUG = env_bool("DEBUG")
SECRET_KEY = env("DJANGO_SECRET_KEY", "insecure-development-key")
ADMIN_SECRET = env("ADMIN_SECRET", "insecure-admin-secret")
PORT = env_int("PORT", 8000)
APP_URL = env("APP_URL", f"http://127.0.0.1:{PORT}")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "*" if DEBUG else "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS, CSRF_FAILURE_VIEW = [APP_URL], "snapstate_project.pages.csrf_failure"
ROOT_URLCONF = "snapstate_project.urls"
ASGI_APPLICATION = "snapstate_project.asgi.application"
WSGI_APPLICATION = "snapstate_project.wsgi.application"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE = "UTC"
USE_I18N = False

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "snapstate_project.apps.OperatorsConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "auditlog",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_totp",
    "rest_framework",
    "drf_spectacular",
    "snapstate_project.apps.WiringConfig",
    "snapstate_project.events",
    "accounts",
    "checkpoints",
    "agents_app",
    "analytics",
    "billing",
    "webhooks",
]

# The hot routes' list (see lean.py), then everybody else's.
LEAN_MIDDLEWARE = [
    "snapstate_project.common.request_id.RequestIdMiddleware",
    "snapstate_project.common.headers.CorsMiddleware",
]
MIDDLEWARE = [
    "snapstate_project.common.traffic.TrafficMiddleware",
    *LEAN_MIDDLEWARE,
    "snapstate_project.common.headers.PagesMiddleware",
    "snapstate_project.common.headers.StaticMiddleware",
    "snapstate_project.common.acting.AdminApiMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- Tiers ---
DATABASE_URL = env_url("DATABASE_URL", "postgresql://snapstate:snapstate@127.0.0.1:5432/snapstate")
DATABASES = {"default": database(DATABASE_URL)}
REDIS_URL = env_url("REDIS_URL", "redis://127.0.0.1:6379/0")
REDIS_TIMEOUT_SECONDS, POSTGRES_TIMEOUT_SECONDS, ARCHIVE_TIMEOUT_SECONDS = 2.0, 10.0, 5.0
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "cache",
        "OPTIONS": dict.fromkeys(("SOCKET_CONNECT_TIMEOUT", "SOCKET_TIMEOUT"), REDIS_TIMEOUT_SECONDS),
    }
}

# --- Limits of the API (contract: sections 2 and 3) ---
API_KEY_PREFIX = env("API_KEY_PREFIX", "snp_")
DEFAULT_TTL_SECONDS = env_int("DEFAULT_TTL_SECONDS", 604_800)
RATE_LIMIT_MAX = env_int("RATE_LIMIT_MAX", 100)
RATE_LIMIT_WINDOW_MS = env_int("RATE_LIMIT_WINDOW_MS", 60_000)
LOCAL_ADMISSION = env_bool("LOCAL_ADMISSION", True)
MAX_API_KEYS_PER_ACCOUNT = env_int("MAX_API_KEYS_PER_ACCOUNT", 10)
MAX_AGENTS_PER_ACCOUNT = env_int("MAX_AGENTS_PER_ACCOUNT", 50)
STALLED_AFTER_SECONDS = env_int("STALLED_AFTER_SECONDS", 86_400)
ARCHIVE_THRESHOLD_SECONDS = env_int("ARCHIVE_THRESHOLD_SECONDS", 3600)
ARCHIVE_COMPRESSION = env("ARCHIVE_COMPRESSION", "zstd")
MAX_BODY_BYTES = 1_048_576 + 256 * 1024

# --- Seams between rooms, which never import one another ---
ACCOUNT_PANELS = "snapstate_project.account_page.panels"  # (account, operator) -> what its page shows, for accounts
HISTORY_BEYOND = "checkpoints.retention.beyond"  # (account id, keep_last, archive_days) -> what would go, for accounts
ACCOUNT_USAGE = "snapstate_project.operators.usage_this_month"  # (account ids) -> {id: sums}, for accounts
STEP_AGENTS = "analytics.reports.agents_of_steps"  # (account id, digest, steps) -> {step: agent}, for checkpoints
WORKFLOW_ERRORS = "analytics.reports.errors_of_workflow"  # (account id, digest, limit) -> errors, for checkpoints
KNOWN_AGENTS = "agents_app.services.known_agents"  # (account id, agent ids) -> {id: (name, seen)}, for analytics
STORAGE_HELD = "checkpoints.services.storage_held_bytes"  # (account id) -> bytes, for billing
STORAGE_HELD_BY_ACCOUNT = "checkpoints.services.storage_held_by_account"  # () -> {account id: bytes}, for billing

# --- Webhooks: https to public addresses only, but for what these open ---
WEBHOOK_ALLOW_HTTP = env_bool("WEBHOOK_ALLOW_HTTP", DEBUG)
WEBHOOK_PRIVATE_NETWORKS = env_list("WEBHOOK_PRIVATE_NETWORKS")
WEBHOOK_RESOLVER = "webhooks.sender.resolve"  # (host, port) -> addresses

# --- Payments: without STRIPE_SECRET_KEY everything works, and nobody is asked for money ---
STRIPE_SECRET_KEY = env("STRIPE_SECRET_KEY")
STRIPE_WEBHOOK_SECRET = env("STRIPE_WEBHOOK_SECRET")
STRIPE_API_BASE = env("STRIPE_API_BASE", "https://api.stripe.com")
STRIPE_TIMEOUT_SECONDS = 20.0

# --- Who may sign in ---
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
LOGIN_URL = "/admin/login/"
LOGIN_REDIRECT_URL = "/admin/"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
SESSION_COOKIE_AGE = 3600  # since the last page; a session's whole length is bounded in operator_site.py
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = APP_URL.startswith("https://")
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"

# Five wrong passwords for a name from an address: that pair waits. What the address is, asgi.py decides.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS, AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = True, False
AXES_CLIENT_IP_CALLABLE = "snapstate_project.common.acting.client_address"
AXES_USERNAME_CALLABLE = "snapstate_project.common.acting.sign_in_name"
AXES_LOCKOUT_CALLABLE = "snapstate_project.operator_site.locked_out"
AXES_ENABLE_ADMIN = AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username"]  # where people type passwords by mistake; addresses are logged
OTP_TOTP_ISSUER = "SnapState"

# What the pages below a path may run besides our own files. The admin's theme ships Alpine, which evaluates the
# expressions in its own templates; no page of it needs a script of its own.
SCRIPT_SOURCES = {"/admin/": ["'unsafe-eval'"]}

# --- The API ---
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.ApiKeyAuthentication"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.throttling.KeyThrottle"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "snapstate_project.common.openapi.Operation",
    "EXCEPTION_HANDLER": "snapstate_project.common.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "SnapState API",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": "The place where AI agents keep their state: save a checkpoint after each step, resume from it.",
    "POSTPROCESSING_HOOKS": ["snapstate_project.common.openapi.complete", "webhooks.event_schemas.describe_events"],
    "SERVERS": [{"url": "/"}],
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_PATCH": False,
}

# --- Background work ---
INTAKE_BATCH = "checkpoints.record.RecordBatch"
CELERY_BROKER_URL = env_url("CELERY_BROKER_URL", "redis://127.0.0.1:6379/1")
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_QUEUES = [Queue(name, routing_key=name) for name in ("celery", "webhooks")]
CELERY_TASK_ROUTES = {"webhooks.*": {"queue": "webhooks", "routing_key": "webhooks"}}
CELERY_BEAT_SCHEDULE = {
    "archive-expiring": {"task": "checkpoints.archive_expiring", "schedule": 60.0},
    "prune": {"task": "checkpoints.prune", "schedule": 600.0},
    "finish-erasures": {"task": "checkpoints.finish_erasures", "schedule": 60.0},
    "sample-storage": {"task": "billing.sample_storage", "schedule": 3600.0},
    "sync-stripe": {"task": "billing.sync_stripe", "schedule": 300.0},
    "deliver-due": {"task": "webhooks.deliver_due", "schedule": 5.0},
    "prune-deliveries": {"task": "webhooks.prune_deliveries", "schedule": 3600.0},
    "close-due-accounts": {"task": "wiring.close_due_accounts", "schedule": 60.0},
    "prune-audit-log": {"task": "wiring.prune_audit_log", "schedule": 86_400.0},
    "prune-sign-ins": {"task": "wiring.prune_sign_ins", "schedule": 86_400.0},
    "prune-events": {"task": "events.prune_events", "schedule": 3600.0},
}

# --- Files ---
SNAPSTATE_HOME = Path(env("SNAPSTATE_HOME", str(BASE_DIR / ".snapstate"))).absolute()
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 3600
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "archive": archive_storage(),
}

# --- Logs ---
LOGGING_CONFIG = "snapstate_project.common.logs.configure"
SECRET_PREFIXES = [API_KEY_PREFIX, "whsec_", "sk_live_", "sk_test_", "rk_live_", "rk_test_"]
LOGGING = {
    "json": not DEBUG,
    "level": env_choice("LOG_LEVEL", "INFO", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "always": ["checkpoints.erasing"],  # whatever the level: after a restore, erase_again needs it
    "secret_prefixes": SECRET_PREFIXES,
}
