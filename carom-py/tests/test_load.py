"""Scenes: loading, changing, pickling, and mistakes with their places."""

import copy
import pickle

import carom
import numpy as np
import pytest


def test_a_text_a_path_and_an_example(ball, tmp_path):
    file = tmp_path / "ball.toml"
    file.write_text(ball)
    for scene in (carom.load(ball), carom.load(file), carom.load(str(file))):
        assert scene.name == "ball" and scene.coordinates == ["y"] and scene.contacts == ["floor"]
    assert carom.load("bouncing-ball").name == "bouncing ball"
    assert "bouncing-ball" in carom.examples()


def test_facts_of_a_scene(ball):
    scene = carom.load(ball)
    assert scene.parameters == {"e": 0.5, "g": 2.0, "height": 1.0}
    assert scene.span == (0.0, 2.5) and scene.step == 1e-3
    assert scene.velocities == ["y"] and scene.events == [] and scene.family == "mechanical"
    assert scene.scheme["name"] == "moreau-jean" and scene.solver["name"] == "auto"
    q, v = scene.initial
    assert q.tolist() == [1.0] and v.tolist() == [0.0]
    assert scene.text == ball and "ball" in repr(scene) and "impacts" in scene.quantities


def test_parameters_by_keywords_and_by_a_dictionary(ball):
    assert carom.load(ball, e=0.8).parameters["e"] == 0.8
    assert carom.load(ball, {"e": 0.8}).parameters["e"] == 0.8
    assert carom.load(ball, e="g/4").parameters["e"] == 0.5
    assert carom.load(ball, e=np.float64(0.7)).parameters["e"] == 0.7
    assert carom.load(ball, height=3).parameters["height"] == 3.0


def test_a_number_keeps_all_its_digits(ball):
    for value in (0.1, 1 / 3, 1e-300, 0.30000000000000004):
        assert carom.load(ball, e=value).parameters["e"] == value


def test_with_makes_another_scene(ball):
    scene = carom.load(ball)
    other = scene.with_(e=0.25, end=1.0)
    assert scene.parameters["e"] == 0.5 and scene.span[1] == 2.5
    assert other.parameters["e"] == 0.25 and other.span[1] == 1.0
    assert other.with_(g=3).parameters == {"e": 0.25, "g": 3.0, "height": 1.0}
    assert scene.with_() is scene


def test_step_and_steps_replace_each_other(ball):
    scene = carom.load(ball, steps=10)
    assert scene.step == 0.25
    assert scene.with_(step=0.5).step == 0.5
    assert scene.with_(step=0.5).with_(steps=5).step == 0.5
    assert scene.with_(step="height/8").step == 0.125


def test_methods_by_name_table_and_dictionary(ball):
    scene = carom.load(ball)
    for scheme in ({"name": "moreau-jean", "theta": 1.0}, '{ name = "moreau-jean", theta = 1.0 }'):
        assert scene.with_(scheme=scheme).scheme == {"name": "moreau-jean", "theta": 1.0}
    assert scene.with_(scheme="schatzman-paoli").scheme == {"name": "schatzman-paoli"}
    assert scene.with_(solver="lemke").solver == {"name": "lemke"}


def test_adaptive_steps_in_all_their_forms(ball):
    scene = carom.load(ball, step=1e-2)
    steps = scene.run(adaptive=1e-6).statistics["steps"]
    assert scene.run(adaptive={"tolerance": 1e-6}).statistics["steps"] == steps
    assert scene.run(adaptive='{ tolerance = 1e-6 }').statistics["steps"] == steps
    assert scene.with_(adaptive=1e-6).run(adaptive=False).statistics["steps"] == 250


def test_scenes_pickle_with_their_changes(ball):
    scene = carom.load(ball, e=0.25).with_(step=1e-2, scheme={"name": "moreau-jean", "theta": 1.0})
    other = pickle.loads(pickle.dumps(scene))
    assert other.parameters == scene.parameters and other.scheme == scene.scheme
    assert np.array_equal(other.run()["y"], scene.run()["y"])
    assert len(pickle.dumps(scene)) < 2000
    assert copy.deepcopy(scene).step == 1e-2


def test_a_mistake_has_its_place_and_a_hint(ball, tmp_path):
    file = tmp_path / "ball.toml"
    file.write_text(ball.replace("restitution", "restitutoin"))
    with pytest.raises(carom.ModelError) as caught:
        carom.load(file)
    error = caught.value
    assert error.file == str(file) and (error.line, error.column) == (15, 1)
    assert "restitutoin" in str(error) and error.first.hint == "did you mean `restitution`?"
    assert error.field == "contact[0].restitutoin" or "restitutoin" in error.field or error.field
    assert isinstance(error, carom.CaromError) and isinstance(error, ValueError)


def test_all_mistakes_are_told(ball):
    with pytest.raises(carom.ModelError) as caught:
        carom.load(ball.replace("restitution", "restitutoin").replace("step =", "stepp ="))
    assert len(caught.value.findings) == 2
    assert all(finding.severity == "error" for finding in caught.value.findings)


def test_mistakes_in_changes(ball):
    scene = carom.load(ball)
    with pytest.raises(carom.ModelError, match="ee"):
        scene.with_(ee=0.5)
    with pytest.raises(carom.ModelError):
        scene.with_(e=1.5)
    with pytest.raises(carom.ModelError, match="moreau"):
        scene.with_(scheme="moreau")
    with pytest.raises(carom.OptionError, match="steps"):
        scene.with_(steps=1.5)
    with pytest.raises(ValueError, match="finite"):
        scene.with_(e=float("nan"))
    with pytest.raises(TypeError):
        scene.with_(e=object())


def test_a_missing_file_is_told():
    with pytest.raises(carom.ModelError, match="bouncing-bal"):
        carom.load("bouncing-bal")


def test_errors_pickle(ball):
    with pytest.raises(carom.ModelError) as caught:
        carom.load(ball.replace("restitution", "restitutoin"))
    other = pickle.loads(pickle.dumps(caught.value))
    assert str(other) == str(caught.value) and other.line == caught.value.line
    error = pickle.loads(pickle.dumps(carom.RunError("failed", time=1.5)))
    assert error.time == 1.5 and str(error) == "failed"


def test_warnings_of_a_model_are_findings():
    text = """version = 1
name = "own"
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
[parameters]
unused = 1
[simulation]
end = 1
step = 0.1
"""
    warnings = carom.load(text).warnings
    assert all(warning.severity == "warning" and warning.line for warning in warnings)
