"""The shortest call: a model of Python functions."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _carom
from ._scene import Progress, _Line, ended
from ._solution import Solution

Gap = Callable[[float, np.ndarray], float]


def solve(
    force: Callable[[float, np.ndarray, np.ndarray], Any], span: tuple[float, float], q0: Any, v0: Any, *,
    mass: Any = 1.0, gap: Union[None, Gap, Sequence[Gap]] = None, restitution: Any = 0.0, friction: Any = None,
    slip: Union[None, Gap, Sequence[Any]] = None, gradient: Any = None, names: Optional[Sequence[str]] = None,
    step: Optional[float] = None, scheme: Union[str, Mapping[str, Any]] = "moreau-jean", solver: str = "auto",
    adaptive: Any = None, progress: Progress = False,
) -> Solution:
    """Solves M(q) v' = force(t, q, v) with gaps gap(t, q) >= 0, as `solve_ivp` solves smooth equations.

    `mass` is a number, a diagonal, a matrix or a function of q. `gap` is a function or a list of them, with a
    coefficient of `restitution` each (or one for all), of `friction` with the displacement `slip(t, q)` along the
    contact (two of them in space), and with a `gradient(t, q)` where it is known. The default step is a thousandth of
    the span. Coordinates are called q0, q1, ..., contacts contact0, ... or by `names`.

    What a function raises ends the run and comes back as it was raised, with the time and with what was computed as
    its attributes `time` and `solution`. Functions hold the lock of the interpreter: a model of equations
    (`carom.Lagrangian`) is a hundred times quicker.
    """
    q0, v0 = (np.ravel(np.asarray(x, dtype=float)).tolist() for x in (q0, v0))
    gaps = [] if gap is None else [gap] if callable(gap) else list(gap)

    def each(value: Any) -> list[Any]:
        several = isinstance(value, (list, tuple, np.ndarray))
        return list(value) if several else [value] * len(gaps)

    contacts = []
    labels = list(names) if names is not None else [f"contact{k}" for k in range(len(gaps))]
    columns = zip(gaps, labels, each(restitution), each(friction), each(slip), each(gradient), strict=True)
    for function, name, e, mu, slips, slope in columns:
        contact: dict[str, Any] = {"name": name, "gap": function, "restitution": float(e)}
        if mu is not None:
            contact["friction"] = float(mu)
            contact["slip"] = [slips] if callable(slips) else list(slips or [])
        if slope is not None:
            contact["gradient"] = slope
        contacts.append(contact)
    start, end = (float(t) for t in span)
    step = float(step) if step is not None else (end - start) / 1000
    line: Any = _Line() if progress is True else (progress or None)
    try:
        raw, raised, time = _carom.solve(
            force, (start, end), q0, v0, mass, contacts, step, scheme, solver, adaptive, line)
    finally:
        if isinstance(line, _Line):
            line.clear()
    return ended(Solution(raw, None), raised, time)
