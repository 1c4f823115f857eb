"""Models from keywords: the same as those from files."""

import tomllib

import carom
import numpy as np
import pytest
from carom import _builders

BALL = dict(
    coordinates=["y"], kinetic="y'^2/2", potential="2*y", contacts=[dict(name="floor", gap="y", restitution="e")],
    parameters=dict(e=0.5), initial=dict(y=1.0), end=2.5, step=1e-3,
)


def test_a_ball_of_keywords_is_the_ball_of_a_file(ball):
    scene = carom.Lagrangian(name="ball", **BALL)
    assert scene.name == "ball" and scene.contacts == ["floor"]
    assert np.array_equal(scene.run()["y"], carom.load(ball).run()["y"])
    assert np.array_equal(scene.with_(e=0.8).run()["y"], carom.load(ball, e=0.8).run()["y"])


def test_there_is_a_builder_for_each_kind():
    assert {"Lagrangian", "Linear", "Lcs", "FirstOrder", "Circuit", "Sweeping", "Multibody"} <= set(_builders.BUILDERS)
    for kind in carom.models():
        name = "".join(word.capitalize() for word in kind.split("-"))
        assert kind in getattr(carom, name).__doc__


def test_a_linear_model():
    sol = carom.Linear(coordinates=["x"], mass=[[1]], stiffness=np.array([[4.0]]), initial={"x": 1}, end=1.0,
                       step=1e-3).run()
    assert np.abs(sol["x"] - np.cos(2 * sol.t)).max() < 1e-6


def test_velocities_at_the_start_have_quoted_keys():
    sol = carom.Lagrangian(coordinates=["x"], kinetic="x'^2/2", initial={"x'": 3.0}, end=1.0, step=0.25).run()
    assert sol["x"][-1] == pytest.approx(3.0, abs=1e-12)


def test_a_complementarity_system():
    # a capacitor behind a diode: x falls to zero and stays, for it would be negative
    sol = carom.Lcs(states=["x"], A=[[0]], B=[[1]], C=[[1]], a=[-1], initial=dict(x=1), end=2.0, step=1e-3).run()
    assert sol["x"][-1] == pytest.approx(0, abs=1e-9) and sol["x"][500] == pytest.approx(0.5, abs=1e-9)


def test_a_relay_slides():
    sol = carom.FirstOrder(states=["x"], rate=dict(x="0"), initial=dict(x=1), end=2.0, step=1e-3,
                           rows=[dict(name="relay", law="relay", output="x", input=dict(x=1))]).run()
    # the relay pushes with -1 until x = 0, and holds it there
    assert np.abs(sol["x"] - np.maximum(0, 1 - sol.t)).max() < 2e-3


def test_nested_keys_and_settings():
    text = _builders.text("lagrangian", coordinates=["x"], kinetic="x'^2/2", force={"x": "-x"}, end=1.0, step=0.1,
                          scheme={"name": "moreau-jean", "theta": 1.0}, output={"columns": {"twice": "2*x"}})
    table = tomllib.loads(text)
    assert table["model"] == {"kind": "lagrangian", "coordinates": ["x"], "kinetic": "x'^2/2", "force": {"x": "-x"}}
    assert table["simulation"] == {"end": 1.0, "step": 0.1, "scheme": {"name": "moreau-jean", "theta": 1.0}}
    sol = carom.load(text + "[initial]\nx = 1\n").run()
    assert np.array_equal(sol["output.twice"] if "output.twice" in sol else sol["twice"], 2 * sol["x"])


@pytest.mark.parametrize("value", ["quote \" and \\", "tab\t", "näme", "line\nbreak", "\x7f", ""])
def test_texts_of_any_kind_are_kept(value):
    assert tomllib.loads(_builders.text("lagrangian", description=value))["description"] == value


@pytest.mark.parametrize("value", [0.1, 1e-300, -0.0, 5, True, [1, [2.5]], np.float64(0.3), np.arange(3)])
def test_numbers_are_kept(value):
    found = tomllib.loads(_builders.text("lagrangian", x=value))["model"]["x"]
    assert found == (value.tolist() if isinstance(value, np.ndarray) else value)


def test_mistakes_point_into_the_text():
    with pytest.raises(carom.ModelError) as caught:
        carom.Lagrangian(**{**BALL, "kinetic": "z'^2/2"})
    assert caught.value.field == "model.kinetic" and caught.value.line
    with pytest.raises(carom.OptionError):
        carom.Lagrangian(**{**BALL, "kinetic": object()})
    with pytest.raises(carom.OptionError):
        carom.Lagrangian(**{**BALL, "step": float("inf")})


def test_expressions_of_sympy():
    sympy = pytest.importorskip("sympy")
    t, m, g = sympy.symbols("t m g")
    y = sympy.Function("y")(t)
    keywords = {**BALL, "kinetic": m * y.diff(t) ** 2 / 2, "potential": m * g * y,
                "parameters": dict(e=0.5, m=1.0, g=2.0), "contacts": [dict(name="floor", gap=y, restitution="e")]}
    assert np.array_equal(carom.Lagrangian(**keywords).run()["y"], carom.Lagrangian(**BALL).run()["y"])


@pytest.mark.parametrize("text, x", [
    ("sin(x)**2 + cos(x)**3", 0.7), ("exp(-x**2)/sqrt(x)", 0.7), ("Abs(x - 1)", 0.7), ("Max(x, 1/3, 0.2)", 0.1),
    ("Min(x, 2)", 0.7), ("x**(-2)", 0.7), ("2**x", 0.7), ("atan2(x, 2)", 0.7), ("pi*x + E", 0.7), ("-x**2", 0.7),
    ("log(x)", 0.7), ("tanh(x)", 0.7), ("sign(x)", 0.7),
])
def test_functions_of_sympy_have_their_values(text, x):
    sympy = pytest.importorskip("sympy")
    expr = sympy.sympify(text)
    scene = carom.Lagrangian(coordinates=["q"], kinetic="q'^2/2", end=1, step=0.5, initial=dict(q="value"),
                             parameters=dict(x=x, value=expr))
    assert scene.parameters["value"] == pytest.approx(float(expr.subs("x", x)), rel=1e-14)
