"""Models from keyword arguments: they become the same tables as a model file, so that all of its page is theirs."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Mapping

import numpy as np

from . import _carom
from ._errors import OptionError
from ._expressions import expression
from ._scene import Scene, load

_TOP, _SIMULATION = (frozenset(keys) for keys in _carom.model_keys())

#: Keywords that read better in the plural, and what they are called in files.
_PLURALS = {"contacts": "contact", "constraints": "constraint", "events": "event", "rows": "row", "sets": "set",
            "bodies": "body", "joints": "joint", "loads": "load", "elements": "element", "charts": "chart"}


def model(kind: str, /, **keywords: Any) -> Scene:
    """A scene of a kind of model ("lagrangian", "multibody", "lcs", ...) from keywords.

    Keywords with the name of a table of the file (`parameters`, `contact`, `initial`, `output`, ...) are that table,
    those of `[simulation]` (`end`, `step`, `scheme`, ...) go there, all others are keys of `[model]`. Keys with a
    hyphen are written with an underscore. Lists of tables are lists of dictionaries, and may be called by the plural:
    `contacts=[dict(gap="y", restitution=0.5)]`. `text` of the scene is the file that they make.
    """
    return load(text(kind, **keywords), name=keywords.get("name", kind))


def text(kind: str, /, **keywords: Any) -> str:
    """The model file that `model` reads."""
    top: dict[str, Any] = {"version": 1, "name": keywords.pop("name", kind)}
    inside: dict[str, Any] = {"kind": kind}
    simulation: dict[str, Any] = {}
    for key, value in keywords.items():
        if value is None:
            continue
        file_key = key.rstrip("_").replace("_", "-")
        singular = _PLURALS.get(key)
        if singular in _TOP and isinstance(value, (list, tuple)):
            top[singular] = value
        elif file_key in _TOP and file_key != "model":
            top[file_key] = value
        elif file_key in _SIMULATION:
            simulation[file_key] = value
        else:
            inside[file_key] = value
    top["model"] = inside
    if simulation:
        top["simulation"] = {**simulation, **top.get("simulation", {})}
    plain = {key: value for key, value in top.items() if not _is_table(value)}
    tables = {key: value for key, value in top.items() if _is_table(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in tables.items():
        for table in value if isinstance(value, (list, tuple)) else [value]:
            brackets = ("[[", "]]") if isinstance(value, (list, tuple)) else ("[", "]")
            lines.append(f"{brackets[0]}{_key(key)}{brackets[1]}")
            lines += [f"{_key(name)} = {_value(entry)}" for name, entry in table.items() if entry is not None]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    several = isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(v, Mapping) for v in value)
    return several or isinstance(value, Mapping)


def _key(key: str) -> str:
    name = str(expression(key)) if not isinstance(key, str) else key
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    value = expression(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if not np.isfinite(number):
            raise OptionError(f"{number} is no finite number")
        return repr(number)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items() if entry is not None)
        return f"{{ {inside} }}"
    if isinstance(value, np.ndarray):
        return _value(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if hasattr(value, "__fspath__"):
        return _value(str(value))
    raise OptionError(f"{value!r} is no value of a model", hint="numbers, strings, expressions, lists, dictionaries")


def _builder(kind: str, name: str, title: str) -> Callable[..., Scene]:
    def build(**keywords: Any) -> Scene:
        return model(kind, **keywords)

    build.__name__ = build.__qualname__ = name
    build.__module__ = "carom"
    about = f"A scene of the kind {kind!r} from keywords; see `carom.model`, `carom docs model-files`."
    build.__doc__ = f"{title}\n\n{about}"
    return build


#: Constructors by the names of the kinds: `Lagrangian`, `FirstOrder`, `Lcs`, ...
BUILDERS: dict[str, Callable[..., Scene]] = {
    "".join(word.capitalize() for word in row["name"].split("-")): _builder(
        row["name"], "".join(word.capitalize() for word in row["name"].split("-")), row["title"])
    for row in _carom.registry("models")
}
