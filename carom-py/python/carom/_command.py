"""The `carom` command of the package."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, Optional, Sequence

from . import _carom


def command(words: Sequence[str]) -> int:
    """Runs a command line without the word `carom`, and tells its exit code: `carom.command(["list", "schemes"])`.

    Ctrl-C asks the command to stop: it keeps what it has, and the code is 130. Handlers of signals stay as they are.
    """
    return _carom.main(["carom", *map(str, words)])


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The console script. A second Ctrl-C ends the process at once."""

    asked: list[bool] = []

    def stop(*_: Any) -> None:
        if asked:
            # files are whole at any moment
            os._exit(130)
        asked.append(True)
        raise KeyboardInterrupt

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    return command(sys.argv[1:] if arguments is None else arguments)
