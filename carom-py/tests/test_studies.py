"""Studies: the functions of the registry, with the results of the command."""

import csv
import inspect

import carom
import numpy as np
import pytest


def rows(file):
    with open(file, newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_every_study_is_a_function_with_its_page():
    for name in carom.studies():
        function = getattr(carom, name.replace("-", "_"))
        assert inspect.isfunction(function) and len(function.__doc__) > 200
    assert {"sweep", "converge", "bifurcation", "lyapunov", "orbit", "basin"} <= set(carom.studies())


def test_a_sweep_has_the_numbers_of_the_command(ball, tmp_path, carom_command):
    (tmp_path / "ball.toml").write_text(ball)
    carom_command("sweep", "ball.toml", "--vary", "e=0.1:0.9:5", "--measure", "final y", "--measure", "impacts",
                  "--out", "command", cwd=tmp_path)
    found = carom.sweep(tmp_path / "ball.toml", vary={"e": "0.1:0.9:5"}, measure=["final y", "impacts"])
    written = rows(tmp_path / "command" / "sweep.csv")
    assert [float(row["e"]) for row in written] == found["e"].tolist()
    assert [float(row["final y"]) for row in written] == found["final y"].tolist()


def test_values_of_a_sweep_in_all_their_forms(ball):
    scene = carom.load(ball)
    forms = ({"e": "0.25:0.75:3"}, {"e": [0.25, 0.5, 0.75]}, {"e": np.linspace(0.25, 0.75, 3)}, "e=0.25:0.75:3",
             ["e=0.25:0.75:3"])
    found = [carom.sweep(scene, vary=vary, measure="final y")["final y"].tolist() for vary in forms]
    assert all(column == found[0] for column in found) and len(found[0]) == 3


def test_threads_change_nothing(ball):
    scene = carom.load(ball)
    one, two = (carom.sweep(scene, vary={"e": "0:0.9:7"}, threads=n).table for n in (1, 2))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_files_of_a_study(ball, tmp_path, carom_command):
    (tmp_path / "ball.toml").write_text(ball)
    carom_command("sweep", "ball.toml", "--vary", "e=0.1:0.9:5", "--out", "command", cwd=tmp_path)
    carom.sweep(tmp_path / "ball.toml", vary={"e": "0.1:0.9:5"}, out=tmp_path / "python")
    ours, theirs = ((tmp_path / side / "sweep.csv").read_bytes() for side in ("python", "command"))
    assert ours == theirs


def test_shards_are_gathered(ball, tmp_path):
    scene = carom.load(ball)
    whole = carom.sweep(scene, vary={"e": "0:0.9:5"})
    for k in (1, 2):
        carom.sweep(scene, vary={"e": "0:0.9:5"}, out=tmp_path / "out", shard=(k, 2))
    joined = carom.sweep(scene, vary={"e": "0:0.9:5"}, out=tmp_path / "out")
    assert all(np.array_equal(whole.table[name], joined.table[name]) for name in whole.table)


def test_convergence_of_the_ball_is_of_first_order():
    found = carom.converge("bouncing-ball", steps="0.1:1e-2:4")
    assert found.tables and found.report().lstrip().lower().startswith("<!doctype html")


def test_the_exponent_of_a_damped_oscillator(ball):
    text = """version = 1
name = "own"
[parameters]
c = 0.2
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2/2"
force.x = "-c*x'"
[initial]
x = 1
[simulation]
end = 10
step = 0.01
"""
    found = carom.lyapunov(text, interval="1", intervals=50, transient=5)
    # both exponents are minus half the damping, and their sum is minus the damping
    both = found["per_unit_time"]
    assert len(both) == 2 and np.abs(both + 0.1).max() < 5e-3 and abs(both.sum() + 0.2) < 1e-7


def test_mistakes_in_options(ball):
    with pytest.raises(carom.OptionError, match="varyy") as caught:
        carom.sweep(ball, varyy={"e": "0:1"})
    assert caught.value.hint == "did you mean `vary`?"
    with pytest.raises(carom.OptionError):
        carom.sweep(ball, vary={"ee": "0:1:3"})
    with pytest.raises(carom.OptionError, match="sweeep"):
        carom.study("sweeep", ball)
    with pytest.raises(carom.OptionError):
        carom.sweep(ball, vary={"e": "0:1:3"}, shard=(3, 2), out="unused")


def test_pages_of_everything():
    for name in (*carom.schemes(), *carom.solvers(), *carom.studies()):
        page = carom.show(name)
        assert name in page and "Options" in page
    assert "theta = 0.5" in carom.show("moreau-jean") and "moreau1988" in carom.show("moreau-jean")
    assert repr(carom.show("bouncing-ball")).startswith("#")
    with pytest.raises(carom.OptionError, match="moreau-jean"):
        carom.show("moreau-jeam")
    assert "lagrangian" in carom.models()
