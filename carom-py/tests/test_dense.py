"""States between the rows, by the interpolant of the scheme."""

import math

import carom
import numpy as np
import pytest

OSCILLATOR = """version = 1
name = "own"
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2/2"
[initial]
x = 1.0
[simulation]
end = 2.0
step = 0.1
"""


def test_rows_are_met_bit_by_bit(ball):
    sol = carom.load(ball, step=0.01).run()
    last = [k for k in range(len(sol)) if k + 1 == len(sol) or sol.t[k] != sol.t[k + 1]]
    state = sol(sol.t[last])
    assert np.array_equal(state.q[0], sol["y"][last]) and np.array_equal(state.v[0], sol["y'"][last])


def test_times_in_any_order_and_shape(ball):
    sol = carom.load(ball, step=0.01).run()
    times = np.array([[0.5, 0.1], [2.0, 0.3]])
    state = sol(times)
    assert state.q.shape == (1, 2, 2) and state.v.shape == (1, 2, 2)
    for index in np.ndindex(times.shape):
        alone = sol(times[index])
        assert alone.q.shape == (1,) and alone.q[0] == state.q[(0, *index)] and alone.v[0] == state.v[(0, *index)]


def test_smooth_motion_between_steps(fall):
    sol = carom.load(fall, step=0.125, end=1.0).run()
    t = np.linspace(0, 1, 37)
    assert np.abs(sol(t).q[0] - (1 - t**2)).max() < 1e-14
    assert np.abs(sol(t).v[0] + 2 * t).max() < 1e-14


def test_the_interpolant_has_the_order_of_the_scheme():
    """Errors between the rows fall with the step as those of the rows do: by four from step to step."""
    errors = []
    for step in (0.1, 0.05, 0.025):
        sol = carom.load(OSCILLATOR, step=step).run()
        t = np.linspace(0, 2, 173)
        errors.append(np.abs(sol(t).q[0] - np.cos(t)).max())
    orders = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
    assert all(1.9 < order < 2.2 for order in orders), (errors, orders)


def test_event_driven_motion_inside_long_steps():
    sol = carom.load("bouncing-ball-events").run()
    t = np.linspace(0, 2.9, 301)

    def exact(t):
        start, speed, end = -1.0, 2.0, 1.0
        while t >= end:
            start, speed, end = end, speed / 2, end + speed / 2
        s = t - start
        return (speed * s - s * s)

    assert np.abs(sol(t).q[0] - [exact(x) for x in t]).max() < 1e-11


def test_after_an_impact_the_velocity_is_the_one_after():
    sol = carom.load("bouncing-ball-events").run()
    t = sol.impacts["t"][0]
    assert sol(float(t)).v[0] == pytest.approx(1.0, abs=1e-10)
    assert sol(float(t) - 1e-6).v[0] == pytest.approx(-2.0, abs=1e-5)


def test_times_outside_of_the_run(ball):
    sol = carom.load(ball).run()
    for t in (-0.1, 2.6, float("nan")):
        with pytest.raises(carom.OptionError, match="outside"):
            sol(t)


def test_the_ends_belong_to_the_run(ball):
    sol = carom.load(ball).run()
    assert sol(0.0).q[0] == 1.0 and sol(2.5).q[0] == sol["y"][-1]
    assert sol([2.5, 2.5]).q.tolist() == [[sol["y"][-1]] * 2]
    assert sol([]).q.size == 0
