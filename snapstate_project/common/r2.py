"""Cloudflare R2, or another S3, through django-storages, with the options that such servers need."""

from typing import Any

from botocore.config import Config
from storages.backends.s3 import S3Storage


class R2Storage(S3Storage):  # type: ignore[misc]
    """Path addressing, checksums only where required (others refuse the trailer), no encoding added to an object."""

    def get_default_settings(self) -> dict[str, Any]:
        options = {
            "region_name": "auto",
            "default_acl": None,
            "file_overwrite": True,
            "gzip": False,
            "signature_version": "s3v4",
            "addressing_style": "path",
            "client_config": Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"mode": "standard", "total_max_attempts": 4},
                connect_timeout=3,
                read_timeout=20,
            ),
        }
        return {**super().get_default_settings(), **options}
