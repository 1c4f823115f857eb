"""Many runs at once, and runs step by step."""

import carom
import numpy as np
import pytest


def test_solutions_are_in_the_order_of_the_values(ball):
    scene = carom.load(ball)
    values = np.linspace(0.1, 0.9, 9)
    many = scene.run_many(e=values)
    for e, sol in zip(values, many):
        assert np.array_equal(sol["y"], scene.with_(e=e).run()["y"])
        assert sol.scene.parameters["e"] == e


def test_measures_do_not_depend_on_threads(ball):
    scene = carom.load(ball)
    e = np.linspace(0, 0.95, 20)
    one, two, four = (scene.run_many(e=e, measures=["final y", "impacts"], threads=n) for n in (1, 2, 4))
    for name in ("final y", "impacts"):
        assert np.array_equal(one[name], two[name]) and np.array_equal(one[name], four[name])
    assert one["impacts"][0] >= 1 and one.errors == {}


def test_measures_are_those_of_single_runs(ball):
    scene = carom.load(ball)
    found = scene.run_many(e=[0.3, 0.6], measures=["final y", "max y'"])
    for k, e in enumerate((0.3, 0.6)):
        sol = scene.with_(e=e).run()
        assert found["final y"][k] == sol["y"][-1]


def test_arrays_are_broadcast(ball):
    found = carom.load(ball).run_many(e=[[0.2], [0.4], [0.6]], height=[1.0, 2.0], measures=["impacts"])
    assert found["impacts"].shape == (3, 2) and found["e"].shape == (3, 2)
    assert found["height"][0].tolist() == [1.0, 2.0]
    assert set(found) == {"e", "height", "impacts"}


def test_runs_that_are_refused_have_a_reason(ball):
    found = carom.load(ball).run_many(e=[0.5, 1.5], measures=["final y"])
    assert np.isfinite(found["final y"][0]) and np.isnan(found["final y"][1])
    assert list(found.errors) == [1] and "1.5" in found.errors[1]


def test_mistakes_in_measures_and_names(ball):
    scene = carom.load(ball)
    with pytest.raises(carom.CaromError, match="finl"):
        scene.run_many(e=[0.5], measures=["finl y"])
    with pytest.raises(carom.OptionError):
        scene.run_many()
    with pytest.raises(carom.ModelError, match="ee"):
        scene.run_many(ee=[0.5])


def test_steps_have_the_bits_of_the_run(ball):
    scene = carom.load(ball, step=1e-2)
    sol, steps = scene.run(), list(scene.stepper())
    last = {t: k for k, t in enumerate(sol.t)}
    assert len(steps) == sol.statistics["steps"]
    for step in steps:
        k = last[step.t]
        assert step.q[0] == sol["y"][k] and step.v[0] == sol["y'"][k]


def test_a_stepper_is_saved_and_taken_up(ball):
    scene = carom.load(ball, step=1e-2)
    whole = [step.q[0] for step in scene.stepper()]
    first = scene.stepper()
    head = [next(first).q[0] for _ in range(120)]
    second = scene.stepper()
    second.resume(first.save())
    assert head + [step.q[0] for step in second] == whole
    with pytest.raises(carom.OptionError):
        second.resume(b"nonsense")


def test_a_stepper_is_restarted(ball):
    scene = carom.load(ball, step=1e-2)
    stepper = scene.stepper()
    first = [next(stepper).q[0] for _ in range(50)]
    stepper.restart(t=0.0, q=[1.0], v=[0.0])
    assert [next(stepper).q[0] for _ in range(50)] == first
    stepper.restart(v=[3.0])
    assert stepper.state.v[0] == 3.0 and stepper.state.q[0] == first[-1]
    with pytest.raises(carom.OptionError, match="size"):
        stepper.restart(q=[1.0, 2.0])
    with pytest.raises(carom.OptionError, match="finite"):
        stepper.restart(q=[float("inf")])


def test_a_stepper_ends(ball):
    stepper = carom.load(ball, step=0.5).stepper()
    assert len(list(stepper)) == 5 and list(stepper) == []
    assert stepper.state.t == 2.5
