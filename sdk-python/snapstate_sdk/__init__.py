"""The Python client of SnapState."""
