"""What clients have saved, seen from each tier."""

from tests.hostile.conftest import settle

__all__ = ["settle"]
