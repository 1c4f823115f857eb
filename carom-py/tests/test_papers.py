"""Figures of papers: verdicts and numbers of the command."""

import carom
import numpy as np
import pytest


def test_a_figure_is_computed_and_judged():
    assert len(carom.papers()) > 10
    (found,) = carom.reproduce("rr8029/figure-9", quick=True)
    assert found.name == "rr8029/figure-9" and found.title == carom.papers()[found.name]
    assert found.checks and all(check["holds"] for check in found.checks)
    for check in found.checks:
        assert check["range"][0] <= check["measured"] <= check["range"][1]
    columns = next(iter(found.data.values()))
    assert columns and all(isinstance(column, np.ndarray) and len(column) > 1 for column in columns.values())


def test_names_that_are_none():
    with pytest.raises(carom.OptionError, match="rr8092") as caught:
        carom.reproduce("rr8092/figure-9")
    assert "rr8029" in caught.value.hint
