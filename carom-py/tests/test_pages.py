"""What the page shows runs: its snippets, one after the other, in a folder of their own."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def snippets(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.S | re.M)


@pytest.mark.parametrize("page", ["docs/python.md", "docs/first-hour.md", "README.md", "carom-py/README.md"])
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("sympy")
    found = snippets(page)
    assert found
    names = {}
    for snippet in found:
        exec(compile(snippet, page, "exec"), names)


def test_names_on_the_page_exist():
    import carom

    for name in re.findall(r"`carom\.(\w+)", (ROOT / "docs/python.md").read_text()):
        assert hasattr(carom, name), name


def test_everything_public_has_a_docstring():
    import carom

    for name in carom.__all__:
        thing = getattr(carom, name)
        assert isinstance(thing, str) or thing.__doc__, name
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"
