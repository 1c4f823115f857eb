"""One-step problems with their numbers, solved and certified."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _carom

#: A law by its name, with its numbers: "complementarity", ("relay", -1, 1), ("coulomb", 0.3, 2), ...
Law = Union[str, tuple[Any, ...]]


class Solved(NamedTuple):
    """Multipliers, u = W λ + b, and how well they fulfil the laws: measured by the problem, not told by the solver."""

    lambda_: np.ndarray
    u: np.ndarray
    certificate: dict[str, Any]


def solve_problem(W: Any, b: Any, laws: Union[Law, Sequence[Law]] = "complementarity", *, solver: str = "auto",
                  options: Optional[dict[str, Any]] = None) -> Solved:
    """Finds λ, u with u = W λ + b and λ_i in Law_i(u_i).

    `W` is an array or a sparse matrix of scipy. `laws` is one law for all rows, or a list: "complementarity",
    "equality", ("relay", lower, upper), ("coulomb", mu, tangents), ("tresca", radius, tangents), ("adhesion",
    cohesion, mu, tangents), ("rolling", mu, rolling, spinning). A contact with friction has the rows normal, tangent
    1, tangent 2.

    Raises `SolveError` with the certificate of the best point.
    """
    b = np.ravel(np.asarray(b, dtype=float))
    if hasattr(W, "tocsr"):
        matrix = W.tocsr().astype(float)
        matrix.sum_duplicates()
        matrix.sort_indices()
        parts = (matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist())
    else:
        dense = np.atleast_2d(np.asarray(W, dtype=float))
        rows, columns = dense.shape
        keep = dense != 0
        starts = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
        parts = (starts.tolist(), np.nonzero(keep)[1].tolist(), dense[keep].tolist())
    numbered = isinstance(laws, tuple) and len(laws) > 1 and all(isinstance(x, (int, float)) for x in laws[1:])
    single = isinstance(laws, str) or (numbered and isinstance(laws[0], str))
    listed: list[Any] = [laws] if single else list(laws)
    named = [(law, []) if isinstance(law, str) else (law[0], [float(x) for x in law[1:]]) for law in listed]
    if single:
        size = {"coulomb": lambda n: 1 + int(n[1]), "tresca": lambda n: 1 + int(n[1]),
                "adhesion": lambda n: 1 + int(n[2]), "rolling": lambda n: 6}.get(named[0][0], lambda n: 1)
        try:
            named = named * (len(b) // size(named[0][1]))
        except IndexError:
            pass  # the numbers are refused below
    found = _carom.solve_problem(parts, b.tolist(), named, solver, options)
    return Solved(found["lambda"], found["u"], found["certificate"])
