"""Figures and tables of papers, computed anew and judged: what `carom reproduce` does."""

from __future__ import annotations

import difflib
from typing import Any, Optional

from . import _carom
from ._errors import OptionError


class Reproduced:
    """A figure or table: its `verdict` with a `reason`, `checks` beside verified numbers, and `data` by its tables."""

    def __init__(self, name: str, title: str, found: dict[str, Any]) -> None:
        self.name, self.title = name, title
        self.verdict: str = found["verdict"]
        self.reason: Optional[str] = found["reason"]
        #: Dictionaries with `what`, `measured`, the accepted `range`, `holds` and `source`.
        self.checks: list[dict[str, Any]] = found["checks"]
        #: Columns as arrays.
        self.data: dict[str, dict[str, Any]] = found["data"]

    def __repr__(self) -> str:
        held = sum(check["holds"] for check in self.checks)
        return f"<{self.name}, {self.title}: {self.verdict}, {held} of {len(self.checks)} checks>"


def papers() -> dict[str, str]:
    """Names of the figures and tables that `reproduce` computes, each with a title."""
    return dict(_carom.papers())


def reproduce(*names: str, quick: bool = False, threads: Optional[int] = None) -> list[Reproduced]:
    """Computes figures and tables of papers anew: `carom.reproduce("rr8029/figure-9")`, or all of `"rr8029"`.

    `quick` takes fewer and coarser runs. The gallery with its charts is that of the command `carom reproduce`.
    """
    titles = papers()
    wanted = []
    for name in names or titles:
        found = [known for known in titles if known == name or known.startswith(f"{name}/")]
        if not found:
            near = difflib.get_close_matches(name, [*titles, *(known.split("/")[0] for known in titles)], 1)
            raise OptionError(f"there is no paper or item `{name}`",
                              hint=f"did you mean `{near[0]}`?" if near else "carom.papers() names all")
        wanted += [known for known in found if known not in wanted]
    outcomes = _carom.reproduce(wanted, quick, threads)
    return [Reproduced(name, titles[name], outcome) for name, outcome in zip(wanted, outcomes)]
