"""Cloudflare R2, or another S3, through django-storages, with the options that such servers need."""

from typing import Any

from boto3.s3.transfer import TransferConfig  # type: ignore[import-untyped]
from botocore.config import Config
from botocore.exceptions import ClientError
from django.core.files.base import ContentFile
from storages.backends.s3 import S3Storage
from storages.utils import clean_name

ONE_REQUEST = TransferConfig(use_threads=False, multipart_threshold=1024**3)
MISSING = frozenset({"NoSuchKey", "404"})


class R2Storage(S3Storage):  # type: ignore[misc]
    """Path addressing, checksums only where required (others refuse the trailer), one request an object.

    The content type is said, because from a name that ends in .gz the base would conclude a Content-Encoding.
    """

    def get_default_settings(self) -> dict[str, Any]:
        options = {
            "region_name": "auto",
            "default_acl": None,
            "file_overwrite": True,
            "gzip": False,
            "signature_version": "s3v4",
            "addressing_style": "path",
            "object_parameters": {"ContentType": "application/octet-stream"},
            "transfer_config": ONE_REQUEST,
            "client_config": Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"mode": "standard", "total_max_attempts": 3},
                connect_timeout=2,
                read_timeout=10,
            ),
        }
        return {**super().get_default_settings(), **options}

    def _open(self, name: str, mode: str = "rb") -> "ContentFile[bytes]":  # noqa: ARG002 (only ever read)
        try:
            answer = self.bucket.Object(self._normalize_name(clean_name(name))).get()
            return ContentFile(answer["Body"].read(), name=name)
        except ClientError as error:
            if error.response["Error"]["Code"] in MISSING:
                raise FileNotFoundError(name) from error
            raise
