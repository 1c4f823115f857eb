"""What there is: schemes, solvers, studies, examples, and their pages."""

from __future__ import annotations

import difflib
from typing import Any

from . import _carom
from ._errors import OptionError


class Page(str):
    """A text that shows itself as it is."""

    def __repr__(self) -> str:
        return str(self)


def schemes() -> dict[str, str]:
    """Names of the schemes, each with a title."""
    return {row["name"]: row["title"] for row in _carom.registry("schemes")}


def solvers() -> dict[str, str]:
    """Names of the solvers, each with a title."""
    return {row["name"]: row["title"] for row in _carom.registry("solvers")}


def studies() -> dict[str, str]:
    """Names of the studies, each with a title."""
    return {row["name"]: row["title"] for row in _carom.registry("studies")}


def models() -> dict[str, str]:
    """Kinds of models, each with a title."""
    return {row["name"]: row["title"] for row in _carom.registry("models")}


def examples() -> list[str]:
    """Names of the built-in examples, which `load` takes."""
    return [row["name"] for row in _carom.registry("examples")]


def show(name: str) -> Page:
    """The page of a scheme, solver, study or example: equations, options with defaults, citations."""
    known: list[str] = []
    for kind in ("schemes", "solvers", "studies"):
        for row in _carom.registry(kind):
            known.append(row["name"])
            if row["name"] == name:
                return Page(_page(row))
    for row in _carom.registry("examples"):
        known.append(row["name"])
        if row["name"] == name:
            return Page(row["text"])
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else "schemes(), solvers(), studies() and examples() list them"
    raise OptionError(f"no scheme, solver, study or example is named {name!r}", hint=hint)


def _page(row: dict[str, Any]) -> str:
    options = "\n".join(f"  {option['name']} = {option['default']}\n      {option['meaning']}"
                        for option in row["options"])
    citations = f"\n\nCitations: {', '.join(row['citations'])}" if row["citations"] else ""
    return f"{row['title']}: {row['name']}\n\n{row['page']}\n\nOptions\n{options}{citations}\n"
