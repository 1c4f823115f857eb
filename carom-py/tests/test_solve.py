"""Models of Python functions."""

import carom
import numpy as np
import pytest


def weight(t, q, v):
    return [-2.0]


def floor(t, q):
    return q[0]


def test_a_fall():
    sol = carom.solve(weight, (0, 1), [1.0], [0.0], step=1e-2)
    assert np.abs(sol.q[0] - (1 - sol.t**2)).max() < 1e-12 and sol.status == "finished"


def test_the_ball_is_that_of_the_file(ball):
    sol = carom.solve(weight, (0, 2.5), [1.0], [0.0], gap=floor, restitution=0.5, step=1e-3, names=["floor"])
    ours = carom.load(ball).run()
    assert np.abs(sol["q0"] - ours["y"]).max() < 1e-9
    assert len(sol.impacts["t"]) == len(ours.impacts["t"]) and sol.impacts["contact"][0] == "floor"


def test_events_are_located_with_functions_too():
    sol = carom.solve(weight, (0, 2.5), [1.0], [0.0], gap=floor, restitution=0.5, step=0.5, scheme="event-driven")
    assert np.abs(sol.impacts["t"][:2] - [1.0, 2.0]).max() < 1e-7


def test_a_span_that_begins_later():
    sol = carom.solve(lambda t, q, v: [t], (2, 3), [0.0], [0.0], step=1e-3)
    exact = (sol.t**3 - 8) / 6 - 2 * (sol.t - 2)
    assert sol.t[0] == 2.0 and np.abs(sol.q[0] - exact).max() < 1e-6


@pytest.mark.parametrize("mass", [2.0, [2.0, 4.0], [[2.0, 1.0], [1.0, 4.0]], lambda q: np.array([[2.0, 0], [0, 4.0]])])
def test_masses_in_all_their_forms(mass):
    matrix = mass(None) if callable(mass) else np.diag(mass) if np.ndim(mass) == 1 else np.eye(2) * mass \
        if np.ndim(mass) == 0 else np.array(mass)
    sol = carom.solve(lambda t, q, v: np.array([1.0, 2.0]), (0, 1), [0, 0], [0, 0], mass=mass, step=0.1)
    assert np.allclose(sol.v[:, -1], np.linalg.solve(matrix, [1.0, 2.0]), rtol=1e-9)


def test_a_block_slides_and_stops():
    sol = carom.solve(lambda t, q, v: [0.0, -10.0], (0, 1), [0.0, 0.0], [2.0, 0.0], step=1e-3,
                      gap=lambda t, q: q[1], friction=0.5, slip=lambda t, q: q[0])
    # it stops after v/(mu g) = 0.4 s and v^2/(2 mu g) = 0.4 m
    assert sol.q[0, -1] == pytest.approx(0.4, abs=2e-3) and abs(sol.v[0, -1]) < 1e-9


def test_several_gaps_and_gradients():
    walls = [lambda t, q: q[0], lambda t, q: 1 - q[0]]
    slopes = [lambda t, q: [1.0], lambda t, q: [-1.0]]
    sol = carom.solve(lambda t, q, v: [0.0], (0, 4), [0.5], [1.0], gap=walls, gradient=slopes, restitution=[1.0, 0.5],
                      step=1e-3)
    # at the right wall at 0.5 with half the speed, at the left one 2 later
    assert sol.impacts["contact"][:2] == ["contact1", "contact0"]
    assert np.abs(sol.impacts["t"][:2] - [0.5, 2.5]).max() < 5e-3


def test_what_a_function_raises_comes_back():
    class Own(Exception):
        pass

    def force(t, q, v):
        if t > 0.5:
            raise Own("too late")
        return [0.0]

    with pytest.raises(Own, match="too late") as caught:
        carom.solve(force, (0, 1), [0.0], [1.0], step=1e-2)
    assert 0.49 < caught.value.time < 0.53 and "carom" in caught.value.__notes__[0]
    sol = caught.value.solution
    assert sol.status == "failed" and 0.4 < sol.t[-1] < 0.53


def test_wrong_sizes_and_values():
    with pytest.raises(carom.OptionError, match="2 numbers"):
        carom.solve(lambda t, q, v: [0.0, 1.0], (0, 1), [0.0], [1.0])
    with pytest.raises(carom.CaromError):
        carom.solve(lambda t, q, v: ["a"], (0, 1), [0.0], [1.0])
    with pytest.raises(carom.CaromError):
        carom.solve(lambda t, q, v: [0.0], (0, 1), [0.0, 1.0], [1.0])
    with pytest.raises((carom.CaromError, ValueError)):
        carom.solve(lambda t, q, v: [float("nan")], (0, 1), [0.0], [1.0])
    with pytest.raises(carom.OptionError):
        carom.solve(weight, (0, 1), [0.0], [1.0], gap=floor, restitution=1.5)
    with pytest.raises(carom.OptionError, match="moreau-jean"):
        carom.solve(weight, (0, 1), [0.0], [1.0], scheme="moreau-jea")
    with pytest.raises(carom.OptionError):
        carom.solve(weight, (1, 0), [0.0], [1.0])


def test_adaptive_steps():
    sol = carom.solve(lambda t, q, v: -q, (0, 5), [1.0], [0.0], adaptive=1e-8, step=1e-2)
    assert np.abs(sol.q[0] - np.cos(sol.t)).max() < 1e-4
