"""What keeps the development servers from starting, each as a sentence that says what to do."""


class CannotStart(Exception):
    """Shown to the person who typed `make up` as it stands; never with a traceback."""
