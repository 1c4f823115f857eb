"""Tables for everything that reads Arrow: the C stream interface in a capsule, without a library.

Numbers are handed over without copies. Each structure keeps what it points to until whoever took it releases it.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, Mapping

import numpy as np


class _Schema(ctypes.Structure):
    """ArrowSchema of the C data interface."""


class _Array(ctypes.Structure):
    """ArrowArray of the C data interface."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream of the C stream interface."""


_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_DESTROY = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p),
    ("release", _RELEASE), ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.c_void_p),
    ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", _RELEASE),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GET), ("get_next", _GET), ("get_last_error", _ERROR), ("release", _RELEASE),
    ("private_data", ctypes.c_void_p),
]

#: What structures that were given away point to, by the number in their `private_data`.
_KEPT: dict[int, Any] = {}
_NUMBERS = itertools.count(1)

#: Columns that may be missing values have none here: NaN is a number of Arrow.
_NULLABLE = 2


def _keep(structure: Any, *things: Any) -> None:
    number = next(_NUMBERS)
    _KEPT[number] = things
    structure.private_data = number


def _releasing(kind: Any) -> Any:
    """A function that releases a structure, its children first."""

    def release(address: int) -> None:
        structure = kind.from_address(address)
        if kind is not _Stream and structure.n_children:
            for child in (ctypes.c_void_p * structure.n_children).from_address(structure.children):
                inner = kind.from_address(child)
                if inner.release:
                    inner.release(child)
        _KEPT.pop(structure.private_data, None)
        structure.release = _RELEASE()

    return _RELEASE(release)


_FREE = {kind: _releasing(kind) for kind in (_Schema, _Array, _Stream)}


def _pointers(structures: list[Any]) -> Any:
    return (ctypes.c_void_p * max(1, len(structures)))(*(ctypes.addressof(structure) for structure in structures))


def _schema(out: Any, kind: bytes, name: str, children: list[Any]) -> None:
    text, pointers = name.encode(), _pointers(children)
    out.format, out.name, out.metadata, out.flags = kind, text, None, _NULLABLE
    out.n_children, out.children, out.dictionary = len(children), ctypes.addressof(pointers), None
    out.release = _FREE[_Schema]
    _keep(out, kind, text, pointers, children)


def _array(out: Any, length: int, buffers: list[Any], children: list[Any]) -> None:
    addresses = (ctypes.c_void_p * max(1, len(buffers)))(
        *(None if buffer is None else buffer.ctypes.data for buffer in buffers))
    pointers = _pointers(children)
    out.length, out.null_count, out.offset = length, 0, 0
    out.n_buffers, out.buffers = len(buffers), ctypes.addressof(addresses)
    out.n_children, out.children, out.dictionary = len(children), ctypes.addressof(pointers), None
    out.release = _FREE[_Array]
    _keep(out, buffers, addresses, pointers, children)


def _column(values: Any) -> tuple[bytes, list[Any], int]:
    """Format, buffers and length of a column: numbers, or words."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        array = np.ascontiguousarray(array, dtype=np.int64)
        return b"l", [None, array], len(array)
    if array.dtype.kind == "f":
        array = np.ascontiguousarray(array, dtype=np.float64)
        return b"g", [None, array], len(array)
    words = [("" if word is None else str(word)).encode() for word in values]
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in words], out=offsets[1:])
    return b"U", [None, offsets, np.frombuffer(b"".join(words) or b"\0", dtype=np.uint8)], len(words)


def _destroy(capsule: int) -> None:
    address = _pointer(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(address)
    if stream.release:
        stream.release(address)
    _KEPT.pop(-address, None)


_DESTROYER = _DESTROY(_destroy)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTROY)(
    ("PyCapsule_New", ctypes.pythonapi))
_NAME = ctypes.c_char_p(b"arrow_array_stream")


def stream(columns: Mapping[str, Any]) -> Any:
    """A capsule with a stream of one batch, whose columns are these."""
    made = {name: _column(values) for name, values in columns.items()}
    rows = max((length for _, _, length in made.values()), default=0)
    batches = [True]

    def get_schema(_: int, out: int) -> int:
        children = []
        for name, (kind, _buffers, _length) in made.items():
            children.append(_Schema())
            _schema(children[-1], kind, name, [])
        _schema(_Schema.from_address(out), b"+s", "", children)
        return 0

    def get_next(_: int, out: int) -> int:
        if not batches:
            _Array.from_address(out).release = _RELEASE()
            return 0
        batches.clear()
        children = []
        for _kind, buffers, length in made.values():
            children.append(_Array())
            _array(children[-1], length, buffers, [])
        _array(_Array.from_address(out), rows, [None], children)
        return 0

    functions = (_GET(get_schema), _GET(get_next), _ERROR(lambda _: None))
    out = _Stream(*functions, _FREE[_Stream], None)
    _keep(out, functions)
    address = ctypes.addressof(out)
    # the structure itself lives as long as its capsule
    _KEPT[-address] = out
    return _capsule(address, _NAME, _DESTROYER)
