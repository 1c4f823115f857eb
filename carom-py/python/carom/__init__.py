"""carom: nonsmooth dynamics, in the process.

    >>> import carom
    >>> scene = carom.load("bouncing-ball")
    >>> sol = scene.with_(e=0.8).run()
    >>> sol["y"], sol.impacts["t"], sol(0.5).q

`load` and the builders (`Lagrangian`, `Multibody`, ...) make scenes, `Scene.run` solutions; studies have the names of
their commands (`sweep`, `converge`, ...); `show` prints the page of a scheme, solver or study.
"""

from typing import Any

from ._builders import BUILDERS, model
from ._carom import __version__
from ._command import command
from ._errors import (CaromError, FilesError, Finding, Interrupted, ModelError, OptionError, RunError, SolveError,
                      StudyError)
from ._listing import examples, models, schemes, show, solvers, studies
from ._papers import Reproduced, papers, reproduce
from ._problems import Problem, Solved, problem, read_problem, solve_problem
from ._scene import Ensemble, Scene, Step, Stepper, load
from ._sensitivity import Sensitivities
from ._solution import Solution, State, Table, open
from ._solve import solve
from ._studies import FUNCTIONS, Study, study

globals().update(BUILDERS)
globals().update(FUNCTIONS)

__all__ = [
    "CaromError", "Ensemble", "FilesError", "Finding", "Interrupted", "ModelError", "OptionError", "Problem",
    "Reproduced", "RunError", "Scene", "Sensitivities", "Solution", "SolveError", "Solved", "State", "Step", "Stepper",
    "Study", "StudyError", "Table", "__version__", "command", "examples", "load", "model", "models", "open", "papers",
    "problem", "read_problem", "reproduce", "schemes", "show", "solve", "solve_problem", "solvers", "studies", "study",
    *BUILDERS, *FUNCTIONS,
]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'carom' has no attribute {name!r}")
