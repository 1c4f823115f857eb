"""What tests share: models in closed form, and the command whose bits results are compared with."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# where the tests run in the background of a shell Ctrl-C is ignored: tests of it, and what they start, shall hear it
signal.signal(signal.SIGINT, signal.default_int_handler)

BALL = """version = 1
name = "ball"
[parameters]
e = 0.5
g = 2.0
height = 1.0
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "g*y"
[[contact]]
name = "floor"
gap = "y"
restitution = "e"
[initial]
y = "height"
[simulation]
end = 2.5
step = 1e-3
"""

FALL = BALL.replace("[[contact]]\nname = \"floor\"\ngap = \"y\"\nrestitution = \"e\"\n", "").replace("e = 0.5\n", "")


@pytest.fixture
def ball():
    return BALL


@pytest.fixture
def fall():
    return FALL


@pytest.fixture(scope="session")
def carom_command():
    """Runs the binary of the command where it was built, else the one of this package; its folder is `cwd`."""
    binary = os.environ.get("CAROM_COMMAND")
    start = [binary] if binary else [sys.executable, "-m", "carom"]

    def run(*words, cwd: Path):
        done = subprocess.run([*start, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 3, 4), done.stderr
        return done

    return run
