"""What may go wrong, as exception classes with places, numbers and hints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Finding:
    """One mistake or warning in a model, and exactly where it is."""

    file: str
    line: Optional[int]
    column: Optional[int]
    field: str
    message: str
    hint: Optional[str]
    severity: str
    text: str

    def __str__(self) -> str:
        return self.text


class CaromError(Exception):
    """Everything that carom raises, but for `Interrupted`."""

    hint: Optional[str] = None

    def __init__(self, message: str = "", **fields: Any) -> None:
        super().__init__(message)
        for name, value in fields.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        message = self.args[0] if self.args else ""
        return f"{message} ({self.hint})" if self.hint and self.hint not in message else str(message)


class ModelError(CaromError, ValueError):
    """A model that is not good. `findings` are all of them; `file`, `line`, ... are those of the first mistake."""

    findings: list[Finding]

    def __init__(self, message: str = "", findings: Any = (), **fields: Any) -> None:
        made = [finding if isinstance(finding, Finding) else Finding(**finding) for finding in findings]
        super().__init__(message, findings=made, **fields)

    def __str__(self) -> str:
        return str(self.args[0] if self.args else "")

    @property
    def first(self) -> Optional[Finding]:
        """The first mistake."""
        mistakes = [finding for finding in self.findings if finding.severity == "error"]
        return next(iter(mistakes or self.findings), None)

    def __getattr__(self, name: str) -> Any:
        if name in ("file", "line", "column", "field") and "findings" in self.__dict__:
            return getattr(self.first, name, None)
        raise AttributeError(name)

    def __reduce__(self) -> Any:
        return (type(self), (*self.args, self.findings))


class OptionError(CaromError, ValueError):
    """An argument that makes no sense."""


class RunError(CaromError, RuntimeError):
    """A run that failed on its way. `solution` is what was computed before."""

    solution: Any = None
    time: Optional[float] = None
    step: Optional[int] = None
    contact: Optional[str] = None
    residual: Optional[float] = None


class SolveError(CaromError, RuntimeError):
    """A one-step problem that was not solved. `certificate` tells how far the best point is off."""

    certificate: Optional[dict[str, Any]] = None
    point: Any = None


class StudyError(CaromError, RuntimeError):
    """A study that found nothing."""


class FilesError(CaromError, OSError):
    """Files that cannot be read or written."""


class Interrupted(KeyboardInterrupt):
    """The user stopped it. `solution` is what a run had computed by then, marked as interrupted."""

    solution: Any = None

    def __init__(self, message: str = "", **fields: Any) -> None:
        super().__init__(message)
        for name, value in fields.items():
            setattr(self, name, value)
