"""The release, as pyproject.toml and the User-Agent say it."""

__version__ = "2.0.0"
