"""One-step problems with their numbers, solved and certified."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _carom
from ._errors import OptionError

#: A law by its name, with its numbers: "complementarity", ("relay", -1, 1), ("coulomb", 0.3, 2), ...
Law = Union[str, tuple[Any, ...]]


class Solved(NamedTuple):
    """Multipliers, u = W λ + b, and how well they fulfil the laws: measured by the problem, not told by the solver."""

    lambda_: np.ndarray
    u: np.ndarray
    certificate: dict[str, Any]


class Problem:
    """A one-step problem: u = W λ + b with a law between each u and λ."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @property
    def name(self) -> str:
        """Its name."""
        return self._raw.name

    @property
    def kind(self) -> Optional[str]:
        """The kind of its file: lcp, mlcp, relay, friction, global-friction or fclib."""
        return self._raw.kind

    @property
    def notes(self) -> list[str]:
        """What its file says besides."""
        return self._raw.notes

    @property
    def W(self) -> Any:
        """The matrix: sparse where scipy is installed, else an array."""
        starts, columns, values = self._raw.matrix()
        size = len(starts) - 1
        try:
            from scipy.sparse import csr_array
        except ImportError:
            dense = np.zeros((size, size))
            dense[np.repeat(np.arange(size), np.diff(starts)), columns] = values
            return dense
        return csr_array((values, columns, starts), shape=(size, size))

    @property
    def b(self) -> np.ndarray:
        """The vector."""
        return np.array(self._raw.vector())

    @property
    def laws(self) -> list[tuple[str, int, float]]:
        """Names of the laws, with their rows and coefficients of friction."""
        return self._raw.laws()

    def solve(self, solver: str = "auto", options: Optional[dict[str, Any]] = None) -> Solved:
        """Solves it; raises `SolveError` with the certificate of the best point."""
        found = self._raw.solve(solver, options)
        return Solved(found["lambda"], found["u"], found["certificate"])

    def write(self, path: Union[str, os.PathLike[str]], force: bool = False) -> str:
        """Writes a file that `read_problem` and `carom solve` read, and tells its kind."""
        return self._raw.write(os.fspath(path), force)

    def __repr__(self) -> str:
        laws = self.laws
        return f"<carom.Problem {self.name!r}: {sum(rows for _, rows, _ in laws)} rows, {len(laws)} laws>"


def read_problem(path: Union[str, os.PathLike[str]], kind: Optional[str] = None) -> Problem:
    """A problem of a file of Siconos (.dat) or FCLIB (.hdf5); `kind` where its content does not tell."""
    return Problem(_carom.read_problem(os.fspath(path), kind))


def problem(W: Any, b: Any, laws: Union[Law, Sequence[Law]] = "complementarity") -> Problem:
    """A problem of a matrix, an array or one of scipy.sparse, a vector and laws as those of `solve_problem`."""
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
    return Problem(_carom.make_problem(parts, b.tolist(), named))


def solve_problem(W: Any, b: Any = None, laws: Union[Law, Sequence[Law]] = "complementarity", *, solver: str = "auto",
                  options: Optional[dict[str, Any]] = None) -> Solved:
    """Finds λ, u with u = W λ + b and λ_i in Law_i(u_i).

    `W` is an array or a sparse matrix of scipy, or a `Problem` alone. `laws` is one law for all rows, or a list:
    "complementarity", "equality", ("relay", lower, upper), ("coulomb", mu, tangents), ("tresca", radius, tangents),
    ("adhesion", cohesion, mu, tangents), ("rolling", mu, rolling, spinning). A contact with friction has the rows
    normal, tangent 1, tangent 2. Equalities beside complementarity make a mixed problem.

    Raises `SolveError` with the certificate of the best point.
    """
    if isinstance(W, Problem):
        return W.solve(solver, options)
    if b is None:
        raise OptionError("`b` is missing", hint="solve_problem(W, b, laws), or solve_problem(problem)")
    return problem(W, b, laws).solve(solver, options)
