"""Scenes: checked models, ready to run as often as wanted."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _carom
from ._errors import CaromError, Finding, Interrupted, OptionError, RunError
from ._expressions import expression
from ._sensitivity import Sensitivities, gradient, sensitivity
from ._solution import Solution

Settings = Mapping[str, Any]
Progress = Union[bool, Callable[[float, float, int], Any]]


def load(
    model: Union[str, os.PathLike[str]], parameters: Optional[Mapping[str, Any]] = None, /, *,
    name: str = "model", end: Optional[float] = None, step: Any = None, steps: Optional[int] = None,
    scheme: Any = None, solver: Any = None, output: Any = None, adaptive: Any = None, **more: Any,
) -> "Scene":
    """A scene from a model file, from the name of a built-in example, or from the text of a model.

    Parameters of the model are given by keywords, or as a dictionary where their names are taken: `load("ball.toml",
    e=0.8)`. What has more than one line is a text; `name` stands for its file in messages.

    Raises `ModelError` with the places of all mistakes.
    """
    changes = _changes(parameters, more, end, step, steps, scheme, solver, output, adaptive)
    if isinstance(model, str) and "\n" in model:
        return Scene(_carom.load_text(name, model, changes), changes)
    return Scene(_carom.load(os.fspath(model), changes), changes)


def _changes(parameters: Optional[Mapping[str, Any]], more: Mapping[str, Any], end: Any, step: Any, steps: Any,
             scheme: Any, solver: Any, output: Any, adaptive: Any) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    values = {**(parameters or {}), **more}
    if values:
        changes["set"] = {key: expression(value) for key, value in values.items()}
    settings = {"end": end, "step": step, "steps": steps, "scheme": scheme, "solver": solver, "output": output,
                "adaptive": adaptive}
    changes.update((key, value) for key, value in settings.items() if value is not None)
    return changes


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    both = {**old, **new}
    if "step" in new:
        both.pop("steps", None)
    if "steps" in new:
        both.pop("step", None)
    if "set" in old and "set" in new:
        both["set"] = {**old["set"], **new["set"]}
    return both


class Step(NamedTuple):
    """A step of a stepper: time at its end, its length, the state at its end."""

    t: float
    h: float
    q: np.ndarray
    v: np.ndarray


class Scene:
    """A checked model with parameters, method and time span. It never changes: `with_` makes another one."""

    __slots__ = ("_raw", "_changes", "_facts")

    def __init__(self, raw: Any, changes: dict[str, Any]) -> None:
        self._raw, self._changes = raw, changes
        self._facts: Optional[dict[str, Any]] = None

    def with_(
        self, parameters: Optional[Mapping[str, Any]] = None, /, *, end: Optional[float] = None, step: Any = None,
        steps: Optional[int] = None, scheme: Any = None, solver: Any = None, output: Any = None, adaptive: Any = None,
        **more: Any,
    ) -> "Scene":
        """The same model with other values: `scene.with_(e=0.8, step=1e-4)`. The equations are not derived again."""
        changes = _changes(parameters, more, end, step, steps, scheme, solver, output, adaptive)
        return Scene(self._raw.with_changes(changes), _merged(self._changes, changes)) if changes else self

    def run(
        self, *, end: Optional[float] = None, step: Any = None, steps: Optional[int] = None, scheme: Any = None,
        solver: Any = None, output: Any = None, adaptive: Any = None, every: Optional[int] = None,
        columns: Union[str, Sequence[str]] = (), progress: Progress = False,
    ) -> Solution:
        """Runs it: what `carom run` computes, without a file.

        `every` records each n-th step, `columns` are those to record ("all" for everything). `progress=True` shows how
        far it is on standard error; a function is called with part, time and number of the step some times a second,
        and may raise to end the run.

        Ctrl-C raises `Interrupted`, a run that fails `RunError`: both have what was computed as `solution`.
        """
        changes = _changes(None, {}, end, step, steps, scheme, solver, output, adaptive)
        scene = Scene(self._raw.with_changes(changes), _merged(self._changes, changes)) if changes else self
        columns = [columns] if isinstance(columns, str) else list(columns)
        line = _Line() if progress is True else None
        try:
            raw, raised = scene._raw.run(every, columns, line or (progress or None))
        finally:
            if line:
                line.clear()
        return ended(Solution(raw, scene), raised)

    def run_many(
        self, values: Optional[Mapping[str, Any]] = None, /, *, measures: Optional[Sequence[str]] = None,
        threads: Optional[int] = None, **more: Any,
    ) -> Any:
        """Runs with many values of parameters on all cores: `scene.run_many(e=np.linspace(0, 1, 11), om=2.5)`.

        Arrays are broadcast against one another. With `measures`, such as `["final y", "impacts"]`, the result is an
        `Ensemble` of arrays in the shape of the values; without, a list of solutions in their order. What a run gives
        does not depend on the number of threads.
        """
        given = {**(values or {}), **more}
        if not given:
            raise OptionError("there are no parameters to vary", hint="scene.run_many(e=[0.5, 0.6])")
        arrays = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in given.values()))
        shape = arrays[0].shape
        flat = [np.ravel(array).tolist() for array in arrays]
        if measures is None:
            raws = self._raw.run_many(list(given), flat, None, threads)
            rows = [dict(zip(given, row)) for row in zip(*flat)]
            scenes = (Scene(None, _merged(self._changes, {"set": row})) for row in rows)
            return [Solution(raw, _Later(self, scene._changes)) for raw, scene in zip(raws, scenes)]
        found = self._raw.run_many(list(given), flat, list(measures), threads)
        troubles = found.pop("")
        parameters = {name: array for name, array in zip(given, arrays)}
        return Ensemble(parameters, {name: found[name].reshape(shape) for name in measures}, troubles)

    def stepper(self) -> "Stepper":
        """The run step by step: `for step in scene.stepper(): ...`."""
        return Stepper(self._raw.stepper())

    def sensitivity(self, parameters: Union[str, Sequence[str]], t: Any = None) -> Sensitivities:
        """The motion and its derivatives by parameters, through impacts, at the times `t` (the end by default).

        It is integrated by the event-driven scheme, whatever that of the scene is, and differentiated exactly: between
        impacts by the variational equation, at them by saltation.
        """
        return sensitivity(self, parameters, t)

    def gradient(
        self, measures: Union[str, Sequence[str]], parameters: Union[str, Sequence[str]]
    ) -> tuple[Any, Any]:
        """Values of measures and their derivatives by parameters, for `scipy.optimize`.

        Measures are "final x" and "final x'" of a coordinate, and "time CONTACT NUMBER", the time of an impact. One
        measure gives a number and an array; several give an array and a matrix with a row for each.
        """
        return gradient(self, measures, parameters)

    def _get(self, name: str) -> Any:
        facts = self._facts = self._facts or self._raw.facts()
        return facts[name]

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._get("name")

    @property
    def description(self) -> str:
        """One line about it; may be empty."""
        return self._get("description")

    @property
    def parameters(self) -> dict[str, float]:
        """Names and values of its parameters."""
        return dict(self._get("parameters"))

    @property
    def coordinates(self) -> list[str]:
        """Names of coordinates, or of the states of a first-order model."""
        return list(self._get("coordinates"))

    @property
    def velocities(self) -> list[str]:
        """Names of velocities; none in a first-order model."""
        return list(self._get("velocities"))

    @property
    def contacts(self) -> list[str]:
        """Names of contacts and constraints, or of the rows of a first-order model."""
        return list(self._get("contacts"))

    @property
    def events(self) -> list[str]:
        """Names of its events."""
        return list(self._get("events"))

    @property
    def initial(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities at the start."""
        return np.array(self._get("q0")), np.array(self._get("v0"))

    @property
    def span(self) -> tuple[float, float]:
        """Start and end [s]."""
        return self._get("start"), self._get("end")

    @property
    def step(self) -> float:
        """The step, or the first one [s]."""
        return self._get("step")

    @property
    def scheme(self) -> dict[str, Any]:
        """The scheme by name, with the options that are not the default."""
        return dict(self._get("scheme"))

    @property
    def solver(self) -> dict[str, Any]:
        """The solver by name, with its options."""
        return dict(self._get("solver"))

    @property
    def family(self) -> str:
        """"mechanical" or "first-order"."""
        return self._get("family")

    @property
    def warnings(self) -> list[Finding]:
        """Findings in the model that do not keep it from running."""
        return [Finding(**finding) for finding in self._get("warnings")]

    @property
    def quantities(self) -> list[str]:
        """Measures of a run that are worth a note."""
        return self._raw.quantities()

    @property
    def text(self) -> str:
        """The text of the model."""
        return self._raw.text

    @property
    def file(self) -> str:
        """The file that it was read from, or the name of the text."""
        return self._raw.file

    def __repr__(self) -> str:
        scheme = self.scheme["name"]
        return f"<carom.Scene {self.name!r}: {', '.join(self.coordinates)}; {scheme}, step {self.step:g} s>"

    def __reduce__(self) -> Any:
        return (_rebuild, (self.file, self.text, self._changes))


def _rebuild(name: str, text: str, changes: dict[str, Any]) -> Scene:
    return Scene(_carom.load_text(name, text, changes), changes)


class _Later:
    """The scene of one of many runs, made where it is asked for."""

    def __init__(self, base: Scene, changes: dict[str, Any]) -> None:
        self._base, self._changes = base, changes

    def make(self) -> Scene:
        return Scene(self._base._raw.with_changes(self._changes), self._changes)


class Ensemble(Mapping[str, np.ndarray]):
    """Measures of many runs, as arrays in the shape of the values. Runs that failed have NaN, and a reason."""

    def __init__(self, parameters: dict[str, np.ndarray], measures: dict[str, np.ndarray],
                 errors: dict[int, str]) -> None:
        self.parameters, self.measures, self.errors = parameters, measures, errors

    def __getitem__(self, name: str) -> np.ndarray:
        return self.measures[name] if name in self.measures else self.parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.parameters, **self.measures})

    def __len__(self) -> int:
        return len(self.parameters) + len(self.measures)

    def __repr__(self) -> str:
        shape = next(iter(self.parameters.values())).shape
        return f"<carom.Ensemble {shape}: {', '.join(self)}; {len(self.errors)} failed>"

    def to_pandas(self) -> Any:
        """A row for each run."""
        import pandas

        return pandas.DataFrame({name: np.ravel(self[name]) for name in self})


class Stepper:
    """A run that is taken step by step, and may be stopped, changed, saved and taken up again with the same bits."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __iter__(self) -> "Stepper":
        return self

    def __next__(self) -> Step:
        row = self._raw.advance()
        if row is None:
            raise StopIteration
        return Step(*row)

    @property
    def state(self) -> Step:
        """Time and state now; the length is 0."""
        return Step(*self._raw.state())

    def restart(self, t: Optional[float] = None, q: Any = None, v: Any = None) -> None:
        """Goes on from another state, with nothing remembered but the counts; what is not given stays."""
        self._raw.restart(t, None if q is None else np.ravel(q).tolist(), None if v is None else np.ravel(v).tolist())

    def save(self) -> bytes:
        """All that it remembers."""
        return self._raw.save()

    def resume(self, memory: bytes) -> None:
        """Goes on where a stepper of the same scene was saved."""
        self._raw.resume(memory)


class _Line:
    """How far a run is, on one line of standard error, after the first second."""

    def __init__(self) -> None:
        self.begun, self.width = time.monotonic(), 0

    def __call__(self, part: float, t: float, index: int) -> None:
        passed = time.monotonic() - self.begun
        if passed < 1:
            return
        left = f", {passed * (1 - part) / part:.0f} s left" if part > 0 else ""
        text = f"{100 * part:3.0f} %, t = {t:.6g} s, {index} steps, {passed:.0f} s{left}"
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        self.width = len(text)

    def clear(self) -> None:
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)


def ended(solution: Solution, raised: Optional[BaseException], time: Optional[float] = None) -> Solution:
    """A solution, or what ended its run early."""
    failure = solution.summary.get("failure") or {}
    if raised is not None:
        if isinstance(raised, KeyboardInterrupt):
            raise Interrupted(f"interrupted at t = {solution.t[-1]:g} s", solution=solution) from raised
        at = time if time is not None else float(solution.t[-1])
        raised.add_note(f"in a run of carom, at t = {at!r} s; what was computed is the attribute `solution`")
        try:
            raised.solution = solution  # type: ignore[attr-defined]
            raised.time = at  # type: ignore[attr-defined]
        except AttributeError:
            pass
        raise raised
    if solution.status == "failed":
        fields = {key: failure.get(key) for key in ("time", "step", "contact", "residual")}
        raise RunError(failure.get("message", "the run failed"), solution=solution, **fields)
    return solution


__all__ = ["CaromError", "Ensemble", "Scene", "Step", "Stepper", "load"]
