"""How motions and measures depend on parameters: derivatives through impacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy as np

from ._errors import OptionError

if TYPE_CHECKING:
    from ._scene import Scene


class Sensitivities:
    """A motion with its derivatives by parameters.

    `q[i]` and `v[i]` are coordinates over the times `t`; `dq[k, i]` is the derivative of `q[i]` by `parameters[k]` at
    fixed times, `dv[k, i]` that of `v[i]`. Of each impact there are `impacts["t"]`, `impacts["contact"]`, the normal
    velocity `impacts["before"]`, and `impacts["dt"][j, k]`, by which its time changes with `parameters[k]`.
    """

    def __init__(self, scene: "Scene", parameters: list[str], times: np.ndarray, found: dict[str, Any]) -> None:
        count, size, width = len(times), len(scene.coordinates), len(parameters)
        self.parameters = parameters
        self.t = times
        self.q = found["q"].reshape(count, size).T
        self.v = found["v"].reshape(count, size).T
        self.dq = found["dq"].reshape(count, width, size).transpose(1, 2, 0)
        self.dv = found["dv"].reshape(count, width, size).transpose(1, 2, 0)
        self.impacts: dict[str, Any] = {
            "t": found["impact_times"], "contact": found["contacts"], "before": found["before"],
            "dt": found["delays"].reshape(-1, width),
        }

    def __repr__(self) -> str:
        names = ", ".join(self.parameters)
        return f"<carom.Sensitivities by {names}: {len(self.t)} times, {len(self.impacts['t'])} impacts>"


def sensitivity(scene: "Scene", parameters: Union[str, Sequence[str]], t: Any = None) -> Sensitivities:
    """The motion of a scene with its derivatives at these times, at the end where none are given."""
    names = [parameters] if isinstance(parameters, str) else [str(name) for name in parameters]
    start, end = scene.span
    times = np.atleast_1d(np.asarray(end if t is None else t, dtype=float))
    if not names:
        raise OptionError("no parameter is named")
    if times.ndim != 1 or np.any(np.diff(times) < 0) or np.any(times < start) or not np.all(np.isfinite(times)):
        raise OptionError("`t` must be times in their order, none before the start")
    return Sensitivities(scene, names, times, scene._raw.sensitivity(names, times.tolist()))


def gradient(
    scene: "Scene", measures: Union[str, Sequence[str]], parameters: Union[str, Sequence[str]]
) -> tuple[Any, Any]:
    """Values of measures, and their derivatives by parameters."""
    found = sensitivity(scene, parameters)
    if isinstance(measures, str):
        return _measure(scene, found, measures)
    pairs = [_measure(scene, found, measure) for measure in measures]
    return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])


def _measure(scene: "Scene", found: Sensitivities, measure: str) -> tuple[float, np.ndarray]:
    word, _, rest = measure.strip().partition(" ")
    if word == "final":
        name = rest.strip().removeprefix("q.")
        if name in scene.coordinates:
            i = scene.coordinates.index(name)
            return float(found.q[i, -1]), found.dq[:, i, -1]
        rate = name[2:] if name.startswith("v.") else name.removesuffix("'") if name.endswith("'") else None
        if rate in scene.coordinates:
            i = scene.coordinates.index(rate)
            return float(found.v[i, -1]), found.dv[:, i, -1]
    words = rest.split()
    if word == "time" and len(words) == 2 and words[1].isdigit() and words[0] in scene.contacts:
        hits = [j for j, contact in enumerate(found.impacts["contact"]) if contact == words[0]]
        number = int(words[1])
        if not 1 <= number <= len(hits):
            raise OptionError(f"`{measure}`: the contact has {len(hits)} impacts")
        j = hits[number - 1]
        return float(found.impacts["t"][j]), found.impacts["dt"][j]
    raise OptionError(
        f"`{measure}` has no derivative",
        hint='measures are "final x" and "final x\'" of a coordinate x, and "time CONTACT NUMBER" of an impact',
    )

