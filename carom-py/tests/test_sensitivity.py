"""Derivatives by parameters through impacts, beside closed forms."""

import carom
import numpy as np
import pytest

# the ball of the tests falls from h under g: impacts at t1 = sqrt(2 h/g), then after 2 e^k sqrt(2 h/g)


def impacts(e, g, h):
    first = np.sqrt(2 * h / g)
    return first, first + 2 * e * first, first + 2 * (e + e**2) * first


@pytest.fixture
def scene(ball):
    return carom.load(ball, e=0.6, g=2.0, height=1.0, end=2.5)


def test_positions_and_velocities(scene):
    t = np.array([0.5, 1.5, 2.0])
    found = scene.sensitivity(["e", "g", "height"], t)
    assert found.q.shape == (1, 3) and found.dq.shape == (3, 1, 3)
    # before the first impact y = h - g t^2/2
    assert np.allclose(found.dq[:, 0, 0], [0, -0.125, 1], atol=1e-9)
    assert np.allclose(found.dv[:, 0, 0], [0, -0.5, 0], atol=1e-9)

    # after it y = e v1 s - g s^2/2 with v1 = sqrt(2 g h), s = t - t1
    def y(e, g, h, t):
        s = t - np.sqrt(2 * h / g)
        return e * np.sqrt(2 * g * h) * s - g * s**2 / 2

    d = 1e-5
    for k, step in enumerate(np.eye(3) * d):
        p = np.array([0.6, 2.0, 1.0])
        slope = (y(*(p + step), t[1:]) - y(*(p - step), t[1:])) / (2 * d)
        assert np.allclose(found.dq[k, 0, 1:], slope, atol=1e-7), found.parameters[k]
        assert np.allclose(found.q[0, 1:], y(*p, t[1:]), atol=1e-7)


def test_times_of_impacts(scene):
    found = scene.sensitivity(["e", "g", "height"])
    times = impacts(0.6, 2.0, 1.0)
    assert found.impacts["contact"][:2] == ["floor", "floor"]
    assert np.allclose(found.impacts["t"][:2], times[:2], atol=1e-7)
    # t2 = (1 + 2 e) sqrt(2 h/g)
    assert np.allclose(found.impacts["dt"][0], [0, -0.25, 0.5], atol=1e-7)
    assert np.allclose(found.impacts["dt"][1], [2, -2.2 / 4, 2.2 / 2], atol=1e-7)


def test_gradients_of_measures(scene):
    value, slope = scene.gradient("time floor 2", ["e"])
    assert abs(value - 2.2) < 1e-7 and np.allclose(slope, [2], atol=1e-7)
    values, slopes = scene.gradient(["final y", "final y'", "time floor 1"], ["e", "height"])
    assert values.shape == (3,) and slopes.shape == (3, 2)
    many = scene.sensitivity(["e", "height"])
    assert values[0] == many.q[0, -1] and np.array_equal(slopes[1], many.dv[:, 0, -1])


def test_a_parameter_at_its_bound(ball):
    found = carom.load(ball, e=1.0).sensitivity("e", 1.5)
    # after the impact y = e v1 s - g s^2/2 with v1 = 2, s = 1/2
    assert abs(found.dq[0, 0, 0] - 1.0) < 1e-7


def test_optimisation_finds_the_restitution_of_a_rebound_time(ball):
    optimize = pytest.importorskip("scipy.optimize")
    scene = carom.load(ball, end=3.5)
    wanted, calls = 1.3, []

    def misfit(p):
        calls.append(p[0])
        (first, second), slopes = scene.with_(e=p[0]).gradient(["time floor 1", "time floor 2"], "e")
        off = second - first - wanted
        return off**2, 2 * off * (slopes[1] - slopes[0])

    found = optimize.minimize(misfit, [0.3], jac=True, method="L-BFGS-B", bounds=[(0.05, 0.95)])
    # the ball flies for 2 e seconds
    assert abs(found.x[0] - 0.65) < 1e-5 and len(calls) < 10, (found.x, calls)


def test_mistakes(scene, ball):
    with pytest.raises(carom.OptionError, match="`ee`"):
        scene.sensitivity(["ee"])
    with pytest.raises(carom.OptionError, match="times"):
        scene.sensitivity("e", [1.0, 0.5])
    with pytest.raises(carom.OptionError, match="no derivative"):
        scene.gradient("max y", "e")
    with pytest.raises(carom.OptionError, match="impacts"):
        scene.gradient("time floor 99", "e")
