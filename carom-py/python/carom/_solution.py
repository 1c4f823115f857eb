"""Solutions: what a run has found."""

from __future__ import annotations

import html
import os
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Union

import numpy as np

from . import _carom
from ._arrow import stream
from ._errors import CaromError, OptionError


class State(NamedTuple):
    """Positions and velocities at a time, or at many: then one row per coordinate."""

    t: Any
    q: np.ndarray
    v: np.ndarray


class Table(Mapping[str, Any]):
    """A table by its columns: arrays of numbers that are views on the results, lists of words."""

    def __init__(self, raw: Any, name: str) -> None:
        self._raw, self._name = raw, name
        self._columns = raw.columns(name) or []
        self._places = {column[0]: place for place, column in enumerate(self._columns)}

    def __getitem__(self, name: str) -> Any:
        return self._raw.column(self._name, self._places[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._raw.rows(self._name)

    @property
    def units(self) -> dict[str, Optional[str]]:
        """Units of the columns."""
        return {name: unit for name, unit, _ in self._columns}

    def to_pandas(self) -> Any:
        """The table as a data frame."""
        import pandas

        return pandas.DataFrame({name: self[name] for name in self})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for everything that reads Arrow: `polars.DataFrame(sol)`, `pyarrow.table(sol.impacts)`."""
        return stream(self)

    def __repr__(self) -> str:
        return f"<{self._name}: {self.rows} rows of {', '.join(self) or 'nothing'}>"


class Solution:
    """A run that has ended: trajectory, impacts, events, energies, certificate, warnings.

    Rows are the ends of steps, and just before and after impacts and events: then two rows have one time, and `row`
    says which is which. `t`, `q` and `v` are the whole motion, one row of `q` per coordinate; `sol["y"]`,
    `sol["y'"]`, `sol["gap.floor"]` are columns. `sol(t)` is the state at any time.
    """

    def __init__(self, raw: Any, scene: Any) -> None:
        self._raw, self._scene = raw, scene
        self._table: Optional[Table] = None
        self._summary: Optional[dict[str, Any]] = None
        self._stacked: dict[str, np.ndarray] = {}

    @property
    def table(self) -> Table:
        """The trajectory."""
        if self._table is None:
            self._table = Table(self._raw, "trajectory")
        return self._table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The trajectory for everything that reads Arrow: `polars.DataFrame(sol)`."""
        return stream(self.table)

    @property
    def scene(self) -> Any:
        """What was run; nothing where the files of a run were read."""
        if hasattr(self._scene, "make"):
            self._scene = self._scene.make()
        return self._scene

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.table)

    def _find(self, name: str) -> Optional[str]:
        if name in self.table:
            return name
        rate = name.endswith("'")
        for kind in (("v.",) if rate else ("q.", "x.", "y.")):
            full = kind + (name[:-1] if rate else name)
            if full in self.table:
                return full
        return None

    def __getitem__(self, name: str) -> Any:
        full = self._find(name)
        if full is None:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self.table)}")
        return self.table[full]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    @property
    def t(self) -> np.ndarray:
        """Times of the rows [s]."""
        return self.table["t"]

    @property
    def row(self) -> list[str]:
        """What each row is: start, step, output, before or after."""
        return self.table["row"]

    def _stack(self, *kinds: str) -> np.ndarray:
        if kinds[0] not in self._stacked:
            if self.summary.get("columns_left_out"):
                raise OptionError("coordinates of this large model were left out", hint='run(columns="all")')
            rows = [self.table[name] for name in self.table if name.startswith(kinds)]
            array = rows[0][np.newaxis, :] if len(rows) == 1 else np.array(rows).reshape(len(rows), len(self.t))
            array.flags.writeable = False
            self._stacked[kinds[0]] = array
        return self._stacked[kinds[0]]

    @property
    def q(self) -> np.ndarray:
        """Positions, or states of a first-order model: one row per coordinate, one column per time."""
        return self._stack("q.", "x.")

    @property
    def v(self) -> np.ndarray:
        """Velocities likewise."""
        return self._stack("v.")

    def __call__(self, t: Any) -> State:
        """The state at times of the run, by the interpolant of the scheme; after an impact where there is one.

        The steps are taken once more as far as they are needed: ask for many times in one call.
        """
        times = np.asarray(t, dtype=float)
        q, v = self._raw.at(np.ravel(times).tolist())
        n, m = (len(part) // max(times.size, 1) for part in (q, v))
        q, v = (np.array(part, dtype=float).reshape(times.size, size).T for part, size in ((q, n), (v, m)))
        return State(t, q.reshape(n, *times.shape), v.reshape(m, *times.shape))

    @property
    def impacts(self) -> Table:
        """One row each time a contact closes."""
        return Table(self._raw, "impacts")

    @property
    def events(self) -> Table:
        """One row per event."""
        return Table(self._raw, "events")

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` says."""
        if self._summary is None:
            self._summary = self._raw.summary()
        return self._summary

    @property
    def status(self) -> str:
        """"finished", "failed" or "interrupted"."""
        return self.summary["status"]

    @property
    def energy(self) -> Optional[dict[str, float]]:
        """The energy ledger [J]; nothing where the model does not know its energy."""
        return self.summary["energy"]

    @property
    def certificate(self) -> dict[str, float]:
        """The worst of all one-step problems, measured by themselves."""
        return self.summary["certificate"]

    @property
    def statistics(self) -> dict[str, int]:
        """Counts of steps and of the work in them."""
        return self.summary["statistics"]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What the user should know."""
        return self.summary["warnings"]

    @property
    def expectations(self) -> list[dict[str, Any]]:
        """Expected numbers of the file, where it was run to its end as it is written."""
        return self._raw.expectations()

    def save(self, folder: Union[str, os.PathLike[str]], *, csv: bool = False) -> None:
        """Writes what `carom run` writes, byte by byte: tables, summary and report."""
        self._raw.save(os.fspath(folder), csv)

    def report(self) -> str:
        """The page of the report as HTML: one file that needs nothing else."""
        return self._raw.report()

    def to_pandas(self) -> Any:
        """The trajectory as a data frame."""
        return self.table.to_pandas()

    def plot(self, *names: str, over: str = "t", ax: Any = None) -> Any:
        """Draws columns over time with matplotlib: coordinates where none are named. Returns the axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise OptionError("matplotlib is not installed", hint="pip install matplotlib") from error
        if ax is None:
            _, ax = plt.subplots()
        default = [name for name in self.table if name.startswith(("q.", "x."))]
        for name in names or default:
            full = self._find(name) or name
            unit = self.table.units.get(full)
            ax.plot(self[over], self[name], label=f"{full} [{unit}]" if unit else full)
        ax.set_xlabel("t [s]" if over == "t" else over)
        ax.legend()
        return ax

    def __len__(self) -> int:
        return self.table.rows

    def __repr__(self) -> str:
        found = self.summary
        end = f"t = {self.t[-1]:g} s" if len(self) else "no row"
        counts = f"{len(self)} rows to {end}, {found['impacts']} impacts"
        return f"<carom.Solution {found['name']!r}: {self.status}, {counts}>"

    def _repr_html_(self) -> str:
        found = self.summary
        energy = self.energy or {}
        rows = [
            ("status", self.status if not found.get("partial") else found["partial"]),
            ("scheme, solver", f"{found['inputs']['scheme']['name']}, {found['inputs']['solver']['name']}"),
            ("steps", found["statistics"]["steps"]),
            ("impacts", found["impacts"]),
            ("worst residual", found["certificate"]["residual"]),
            ("energy lost at impacts [J]", energy.get("impact_loss")),
        ]
        cells = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>"
                        for name, value in rows if value is not None)
        told = "".join(f"<li>{html.escape(warning['message'])}</li>" for warning in self.warnings)
        warnings = f"<ul>{told}</ul>" if told else ""
        try:
            page = self.report()
        except CaromError:
            page = ""
        table = f"<b>{html.escape(found['name'])}</b><table>{cells}</table>{warnings}"
        return f"{table}{self._charts()}{frame(page)}"

    def _charts(self) -> str:
        """Small pictures of the coordinates."""
        names = [name for name in self.table if name.startswith(("q.", "x."))][:4]
        return "".join(_spark(name, self.t, self[name]) for name in names) if len(self) > 1 else ""


def frame(page: str, opened: bool = False, most: int = 2_000_000) -> str:
    """The page of a report inside that of a notebook, with its charts and animation; a click opens and closes it."""
    if not page or len(page) > most:
        return ""
    style = "width:100%;height:640px;border:1px solid #ccc"
    inner = f'<iframe srcdoc="{html.escape(page)}" loading="lazy" style="{style}"></iframe>'
    return f"<details{' open' if opened else ''}><summary>report</summary>{inner}</details>"


def _spark(name: str, t: np.ndarray, y: np.ndarray, most: int = 400) -> str:
    """A chart as SVG: of many rows the extremes of blocks, in their order."""
    blocks = max(1, len(t) // most)
    keep = np.arange(len(t))
    if blocks > 1:
        ends = [(k, min(k + 2 * blocks, len(t))) for k in range(0, len(t), 2 * blocks)]
        pairs = [(a + int(np.argmin(y[a:b])), a + int(np.argmax(y[a:b]))) for a, b in ends]
        keep = np.unique(np.array([0, *(k for pair in pairs for k in pair), len(t) - 1]))
    x, z = t[keep], y[keep]
    low, high = float(z.min()), float(z.max())
    u = 300 * (x - x[0]) / ((x[-1] - x[0]) or 1)
    w = 60 - 56 * (z - low) / ((high - low) or 1)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(u, w))
    return (f'<div style="display:inline-block;margin:4px"><small>{html.escape(name)}: {low:.4g} to {high:.4g}</small>'
            f'<br><svg width="300" height="64"><polyline points="{points}" fill="none" stroke="#3366cc"/></svg></div>')


def open(folder: Union[str, os.PathLike[str]]) -> Solution:
    """Reads what `carom run` or `Solution.save` has written."""
    return Solution(_carom.open(os.fspath(folder)), None)
