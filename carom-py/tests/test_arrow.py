"""Tables in the stream interface of Arrow: read back by the interface itself, and by pyarrow where it is there."""

import ctypes
import gc

import carom
import numpy as np
import pytest
from carom import _arrow


def read(capsule):
    """Columns of a stream, by the rules of the interface alone."""
    address = _arrow._pointer(id(capsule), b"arrow_array_stream")
    stream = _arrow._Stream.from_address(address)
    schema, array, last = _arrow._Schema(), _arrow._Array(), _arrow._Array()
    assert stream.get_schema(address, ctypes.addressof(schema)) == 0 and schema.format == b"+s"
    assert stream.get_next(address, ctypes.addressof(array)) == 0
    assert stream.get_next(address, ctypes.addressof(last)) == 0 and not last.release
    found = {}
    kinds = (ctypes.c_void_p * schema.n_children).from_address(schema.children)
    parts = (ctypes.c_void_p * array.n_children).from_address(array.children)
    for kind, part in zip(kinds, parts):
        kind, part = _arrow._Schema.from_address(kind), _arrow._Array.from_address(part)
        buffers = (ctypes.c_void_p * part.n_buffers).from_address(part.buffers)
        assert part.length == array.length and part.null_count == 0 and buffers[0] is None
        if kind.format == b"U":
            ends = np.ctypeslib.as_array((ctypes.c_int64 * (part.length + 1)).from_address(buffers[1])).copy()
            text = ctypes.string_at(buffers[2], int(ends[-1]))
            found[kind.name.decode()] = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
        else:
            number = {b"g": ctypes.c_double, b"l": ctypes.c_int64}[kind.format]
            found[kind.name.decode()] = np.ctypeslib.as_array((number * part.length).from_address(buffers[1])).copy()
    for structure in (schema, array):
        structure.release(ctypes.addressof(structure))
        assert not structure.release
    return found


def test_a_trajectory_and_its_impacts(ball):
    sol = carom.load(ball).run()
    kept = len(_arrow._KEPT)
    for table in (sol.table, sol.impacts):
        found = read(table.__arrow_c_stream__())
        assert list(found) == list(table)
        for name in table:
            words = isinstance(table[name], list)
            assert found[name] == table[name] if words else np.array_equal(found[name], table[name], True), name
    assert read(sol.__arrow_c_stream__()).keys() == sol.table.keys()
    gc.collect()
    assert len(_arrow._KEPT) == kept, "structures that were released are kept"


def test_a_stream_that_nobody_reads_is_forgotten(ball):
    sol = carom.load(ball).run()
    kept = len(_arrow._KEPT)
    capsule = sol.__arrow_c_stream__()
    assert len(_arrow._KEPT) > kept
    del capsule
    gc.collect()
    assert len(_arrow._KEPT) == kept


def test_pyarrow_reads_it(ball):
    pyarrow = pytest.importorskip("pyarrow")
    sol = carom.load(ball).run()
    table = pyarrow.table(sol)
    assert table.num_rows == len(sol.t) and table["t"].to_numpy().tolist() == sol.t.tolist()
    assert table["row"].to_pylist() == list(sol.row)
    study = pyarrow.table(carom.sweep(ball, vary={"e": "0:0.9:3"}))
    assert study.num_rows == 3 and study["status"].to_pylist() == ["finished"] * 3
