"""Notebooks run from top to bottom: the first one always, the others in `cargo xtask test --all`."""

import json
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
FIRST = "first-hour"


def cells(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]


def names():
    others = sorted(path.stem for path in FOLDER.glob("*.ipynb") if path.stem != FIRST)
    long = pytest.mark.skipif("CAROM_LONG" not in os.environ, reason="long: run by `cargo xtask test --all`")
    return [FIRST, *(pytest.param(name, marks=long) for name in others)]


@pytest.mark.parametrize("name", names())
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {}
    for cell in cells(name):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}.ipynb, {cell['id']}", "exec"), space)


def test_notebooks_are_stored_without_results():
    for path in FOLDER.glob("*.ipynb"):
        code = [cell for cell in cells(path.stem) if cell["cell_type"] == "code"]
        assert code and all(not cell["outputs"] and cell["execution_count"] is None for cell in code), path
    assert len(list(FOLDER.glob("*.ipynb"))) == 4
