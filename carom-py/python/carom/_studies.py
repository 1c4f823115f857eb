"""Studies of many runs: one function for each row of carom's registry, with the options of the command."""

from __future__ import annotations

import html
import os
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np

from . import _carom
from ._arrow import stream
from ._errors import Interrupted, OptionError
from ._executors import Line, distribute
from ._scene import Scene, load
from ._solution import frame


class Study:
    """What a study found: `tables` by name with their columns, `facts`, `data` for programs, `warnings`."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self.name: str = found["study"]
        self.title: str = found.get("title", "")
        self.headline: str = found.get("headline", "")
        self.facts: dict[str, str] = found.get("facts", {})
        self.data: Any = found.get("data")
        self.warnings: list[str] = found.get("warnings", [])
        #: Why the whole study counts as failed, where it does.
        self.failure: Optional[str] = found.get("failure")
        #: What an interruption has left out.
        self.partial: Optional[str] = found.get("partial")
        self.tables: list[dict[str, Any]] = [
            {**table, "columns": {key: _array(cells) for key, cells in table["columns"].items()}}
            for table in found.get("tables", [])
        ]

    @property
    def table(self) -> dict[str, Any]:
        """Columns of the first table that has rows."""
        filled = [table["columns"] for table in self.tables if any(len(c) for c in table["columns"].values())]
        return filled[0] if filled else {}

    def __getitem__(self, name: str) -> Any:
        for table in self.tables:
            if name in table["columns"]:
                return table["columns"][name]
        known = [key for table in self.tables for key in table["columns"]]
        raise KeyError(f"there is no column {name!r}; there are {', '.join(known)}")

    def report(self) -> str:
        """The page of the report as HTML."""
        return self._found["page"] or ""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The first table for everything that reads Arrow."""
        return stream(self.table)

    def to_pandas(self) -> Any:
        """The first table as a data frame."""
        import pandas

        return pandas.DataFrame(self.table)

    def _repr_html_(self) -> str:
        told = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return f"<b>{html.escape(self.headline or self.title)}</b><ul>{told}</ul>{frame(self.report(), opened=True)}"

    def __repr__(self) -> str:
        return f"<carom.{self.name}: {self.headline or self.title}>"


def _array(cells: list[Any]) -> Any:
    """Numbers as an array, NaN where there is none; what has words stays a list."""
    if all(cell is None or isinstance(cell, (int, float)) for cell in cells):
        if cells and all(isinstance(cell, int) for cell in cells):
            return np.array(cells)
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    return cells


def study(
    name: str, model: Union[Scene, str, os.PathLike[str]], /, *, out: Union[None, str, os.PathLike[str]] = None,
    threads: Optional[int] = None, shard: Union[None, str, tuple[int, int]] = None, fresh: bool = False,
    executor: Any = None, workers: Optional[int] = None, progress: Union[bool, Callable[[int, int], Any]] = False,
    **options: Any,
) -> Study:
    """Runs a study by its name; `carom.show(name)` tells its options.

    `model` is a scene, what `load` takes, or a study file (or its text), whose options count where none are given.
    Options are those of the command, with `_` for `-`; ranges are its words ("0:0.9:10"), lists or arrays; where the
    command takes NAME=RANGE, a dictionary does as well: `vary={"e": "0:0.9:10"}`.

    With `out` its files go to a folder, and what an earlier call has computed there is not computed again.
    `shard=(2, 5)` computes the second of five shards alone, `shard="auto"` what no other process has done; a call
    without it joins them.

    `executor` is any executor of `concurrent.futures`, which computes the units in batches, on `workers` workers where
    it does not tell their number; results have the same bits. A batch that was lost is done again; where the executor
    is broken, `StudyError` says how much is done, and the same call with the same `out` goes on.

    `progress=True` shows how far it is on standard error; a function is called with the units that are done and their
    number. Ctrl-C raises `Interrupted`, with what was found by then as `solution`.
    """
    row = _ROWS.get(name)
    properties: Mapping[str, Any] = (row or {}).get("schema", {}).get("properties", {})
    table = {key.replace("_", "-"): value for key, value in options.items() if value is not None}
    table = {key: _option(key, value, properties.get(key, {})) for key, value in table.items()}
    scene, table = _input(name, model, table)
    folder = None if out is None else os.fspath(out)
    job = _carom.open_study(name, scene._raw, table, folder, threads, shard, fresh)
    line = Line() if progress is True else (progress or None)
    raised: Optional[BaseException] = None
    try:
        if executor is None:
            raised = job.compute(line)
        elif shard is not None:
            raise OptionError("an executor computes all of a study, not a shard", hint="leave out `shard`")
        else:
            distribute(job, (name, scene, table), executor, workers, line, folder)
    except KeyboardInterrupt as error:
        raised = error
    except BaseException:
        job.close()
        raise
    finally:
        if isinstance(line, Line):
            line.clear()
    found = job.finish(raised is not None)
    result = Study(found)
    if isinstance(raised, KeyboardInterrupt):
        text = f"interrupted after {found['done']} of {found['units']} units"
        raise Interrupted(text, solution=result) from raised
    if raised is not None:
        raise raised
    return result


def _input(
    name: str, model: Union[Scene, str, os.PathLike[str]], options: dict[str, Any]
) -> tuple[Scene, dict[str, Any]]:
    """Model and options: those of a study file where it is one."""
    if isinstance(model, Scene):
        return model, options
    if isinstance(model, str) and "\n" in model:
        found = _carom.study_input(name, "study", options, model)
        if found is None:
            return load(model), options
    else:
        found = _carom.study_input(name, os.fspath(model), options)
    assert found is not None
    return Scene(found[0], found[0].changes()), found[1]


def _range(value: Any) -> str:
    """A range in the words of the command."""
    if isinstance(value, str):
        return value
    numbers = np.ravel(np.asarray(value, dtype=float)).tolist()
    return ",".join(repr(number) for number in numbers)


def _option(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, Mapping):
        pairs = [f"{key}={_range(entry)}" for key, entry in value.items()]
        if "array" in kinds:
            return pairs
        if len(pairs) == 1:
            return pairs[0]
        raise OptionError(f"`{name}` takes one name, {len(pairs)} were given")
    if "array" in kinds and isinstance(value, str):
        return value.split(",") if schema.get("x-commas") else [value]
    if "string" in kinds and not isinstance(value, str):
        return _range(value) if np.ndim(value) else str(value)
    return value


_ROWS: dict[str, Any] = {row["name"]: row for row in _carom.registry("studies")}


def _function(row: dict[str, Any]) -> Callable[..., Study]:
    name = row["name"]

    def run(model: Union[Scene, str, os.PathLike[str]], /, **options: Any) -> Study:
        return study(name, model, **options)

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    run.__module__ = "carom"
    lines = [f"    {option['name'].replace('-', '_')} = {option['default']}\n        {option['meaning']}"
             for option in row["options"]]
    run.__doc__ = f"{row['title']}\n\n{row['page']}\n\nOptions, besides those of `carom.study`:\n\n" + "\n".join(lines)
    return run


FUNCTIONS: dict[str, Callable[..., Study]] = {
    name.replace("-", "_"): _function(row) for name, row in _ROWS.items()
}
