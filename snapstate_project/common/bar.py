"""A progress bar: drawn over itself on a terminal; elsewhere only its end is written."""

import sys
import time

WIDTH = 40
REDRAWN_EVERY_SECONDS = 0.2


class Bar:
    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.began = self.drawn_at = time.monotonic()
        self.line = ""

    def show(self, done: int, total: int) -> None:
        share = done / total if total else 1.0
        seconds = time.monotonic() - self.began
        filled = "█" * round(share * WIDTH)
        self.line = f"{filled:░<{WIDTH}} {share:4.0%}  {done:,} of {total:,} {self.unit}, {seconds:.0f} s"
        if sys.stderr.isatty() and time.monotonic() - self.drawn_at >= REDRAWN_EVERY_SECONDS:
            self.drawn_at = time.monotonic()
            sys.stderr.write(f"\r{self.line}")
            sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write(f"\r{self.line}\n" if sys.stderr.isatty() else f"{self.line}\n")
