"""Runs: closed forms, the bits of the command, files, ends before the end."""

import hashlib
import html
import math
import signal
import threading
import time

import carom
import numpy as np
import pytest


def test_a_fall_is_a_parabola(fall):
    sol = carom.load(fall, end=1.0).run()
    assert sol.status == "finished" and len(sol) == 1001
    # the midpoint rule is exact for a constant force
    assert np.abs(sol["y"] - (1 - sol.t**2)).max() < 1e-12
    assert np.abs(sol["y'"] + 2 * sol.t).max() < 1e-12


def test_the_first_impact_and_the_rebound(ball):
    sol = carom.load(ball, e=0.8).run()
    t = sol.impacts["t"][0]
    assert abs(t - 1) <= 1e-3 and sol.impacts["contact"][0] == "floor"
    assert abs(sol.impacts["normal.before"][0] + 2) < 4e-3
    assert math.isclose(sol.impacts["normal.after"][0], -0.8 * sol.impacts["normal.before"][0], rel_tol=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.3, 0.5, 0.9])
def test_energy_lost_at_the_first_impact(ball, e):
    sol = carom.load(ball, e=e, end=1.2).run()
    # the speed is 2, half of its square is lost but for the part e^2
    assert abs(sol.impacts["loss"][0] - 2 * (1 - e * e)) < 1e-2
    assert sol.energy["impact_loss"] == pytest.approx(sol.impacts["loss"].sum(), rel=1e-12)


def test_impacts_by_events_are_those_of_the_closed_form():
    sol = carom.load("bouncing-ball-events").run()
    times = sol.impacts["t"][:10]
    exact = [1 + sum(2 * 0.5**k for k in range(1, n + 1)) for n in range(10)]
    assert np.abs(times - exact).max() < 1e-12
    apex = sol.events["t"][[kind == "user" for kind in sol.events["kind"]]]
    assert abs(apex[0] - 1.5) < 1e-12
    assert all(expected["holds"] for expected in sol.expectations) and len(sol.expectations) == 6


def test_columns_are_views_that_nobody_changes(ball):
    sol = carom.load(ball).run()
    y = sol["y"]
    assert y.dtype == np.float64 and y is sol["q.y"] and not y.flags.owndata
    with pytest.raises(ValueError):
        y[0] = 3
    with pytest.raises(ValueError):
        y.flags.writeable = True
    assert sol.q.shape == (1, len(sol)) and np.shares_memory(sol.q, y)
    assert np.array_equal(sol.v[0], sol["y'"])


def test_arrays_outlive_their_solution(ball):
    y = carom.load(ball).run()["y"]
    assert y[0] == 1.0 and np.isfinite(y).all()


def test_names_of_columns(ball):
    sol = carom.load(ball).run()
    assert {"t", "row", "q.y", "v.y", "gap.floor"} <= set(sol.columns)
    assert np.array_equal(sol["gap.floor"], sol["y"])
    assert "y" in sol and "y'" in sol and "z" not in sol
    with pytest.raises(KeyError, match="gap.floor"):
        sol["z"]
    assert sol.table.units["t"] == "s"


def test_rows_before_and_after_an_impact(ball):
    sol = carom.load(ball, end=1.2).run()
    k = sol.row.index("before")
    assert sol.t[k] == sol.t[k + 1] and sol["y'"][k] < 0 < sol["y'"][k + 1]
    assert set(sol.row) == {"start", "step", "before"} or set(sol.row) <= {"start", "step", "before", "after"}


def test_first_order_models_have_states_and_no_velocities():
    scene = carom.load("diode-bridge")
    sol = scene.run()
    assert scene.family == "first-order" and sol.q.shape[0] == len(scene.coordinates)
    assert np.array_equal(sol[scene.coordinates[0]], sol.q[0])


def test_results_are_those_of_the_command(ball, tmp_path, carom_command):
    (tmp_path / "ball.toml").write_text(ball)
    carom_command("run", "ball.toml", "--csv", "--set", "e=0.7", "--out", "command", cwd=tmp_path)
    sol = carom.load(tmp_path / "ball.toml", e=0.7).run()
    lines = (tmp_path / "command" / "trajectory.csv").read_text().splitlines()
    names = lines[0].split(",")
    assert names == sol.columns
    for name in ("t", "q.y", "v.y", "gap.floor"):
        place = names.index(name)
        written = [float(line.split(",")[place]) for line in lines[1:]]
        assert np.array_equal(sol[name], written), name


@pytest.mark.parametrize("example", ["bouncing-ball", "rocking-block-events", "diode-bridge", "slider-crank-play"])
def test_saved_files_have_the_bytes_of_the_command(example, tmp_path, carom_command):
    # expected numbers of the file belong to the run as written: both run it so
    carom_command("run", example, "--csv", "--out", "command", cwd=tmp_path)
    sol = carom.load(example).run()
    sol["t"], sol.q  # columns that NumPy holds are written as well
    sol.save(tmp_path / "python", csv=True)
    names = sorted(file.name for file in (tmp_path / "command").iterdir() if file.is_file())
    assert names == sorted(file.name for file in (tmp_path / "python").iterdir() if file.is_file())
    assert {"trajectory.parquet", "summary.json", "report.html"} <= set(names)
    for name in names:
        ours, theirs = ((tmp_path / side / name).read_bytes() for side in ("python", "command"))
        assert hashlib.sha256(ours).digest() == hashlib.sha256(theirs).digest(), name


def test_saved_results_are_read_back(ball, tmp_path):
    sol = carom.load(ball).run()
    sol.save(tmp_path / "out")
    other = carom.open(tmp_path / "out")
    assert other.columns == sol.columns and other.row == sol.row and other.status == "finished"
    for name in ("t", "y", "y'", "gap.floor"):
        assert np.array_equal(other[name], sol[name])
    assert np.array_equal(other.q, sol.q)
    assert np.array_equal(other.impacts["t"], sol.impacts["t"])
    assert other.impacts["contact"] == sol.impacts["contact"]
    assert {**other.summary, "files": 0} == {**sol.summary, "files": 0}
    with pytest.raises(carom.OptionError):
        other(0.5)


def test_a_folder_of_somebody_else_is_left_alone(ball, tmp_path):
    (tmp_path / "summary.json").write_text("mine")
    with pytest.raises(carom.CaromError):
        carom.load(ball).run().save(tmp_path)
    assert (tmp_path / "summary.json").read_text() == "mine"


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(carom.FilesError, match="summary.json"):
        carom.open(tmp_path / "nothing")


def test_equal_runs_have_equal_bits(ball):
    scene = carom.load(ball)
    first, second = scene.run(), scene.run()
    # not a number is the force before the first step
    assert all(np.array_equal(first[name], second[name], equal_nan=True) for name in first.columns[2:])


def test_every_and_columns(ball):
    scene = carom.load(ball, end=0.5)
    assert len(scene.run(every=100)) == 6
    assert scene.run(columns=["q.*"]).columns == ["t", "row", "q.y"]
    assert scene.run(columns="gap.floor").columns == ["t", "row", "gap.floor"]
    with pytest.raises(carom.OptionError, match="gap.flor"):
        scene.run(columns="gap.flor")


def test_output_rows_lie_on_a_grid(ball):
    sol = carom.load(ball, step=0.1, end=0.5).run(output=0.025)
    grid = sol.t[[row in ("output", "step", "start") for row in sol.row]]
    assert np.allclose(grid, np.arange(21) * 0.025, atol=1e-12)


def test_a_run_that_fails_has_what_was_computed():
    text = """version = 1
name = "own"
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
force.x = "1/(1 - t)^2 + sqrt(0.5 - t)"
[simulation]
end = 1
step = 0.01
"""
    with pytest.raises(carom.RunError) as caught:
        carom.load(text).run()
    error = caught.value
    assert 0.4 < error.time < 0.52 and error.solution.status == "failed"
    assert 40 < len(error.solution) < 53 and "failed" in error.solution.summary["partial"]
    assert isinstance(error, RuntimeError)


def test_ctrl_c_keeps_what_was_computed(ball):
    scene = carom.load(ball, end=1e5, height=1e9)
    main = threading.main_thread().ident
    timer = threading.Timer(0.6, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        scene.run(every=1000)
    assert time.monotonic() - begun < 5
    sol = caught.value.solution
    assert isinstance(caught.value, carom.Interrupted)
    assert sol.status == "interrupted" and 1 < len(sol) and sol.t[-1] < 1e5
    assert sol.summary["partial"].startswith("interrupted at t = ")
    assert sol.scene.run(end=1.0).status == "finished"


def test_progress_is_told_and_may_end_the_run(ball):
    seen = []

    def progress(part, t, step):
        seen.append((part, t, step))
        if len(seen) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough") as caught:
        carom.load(ball, end=1e5, height=1e9).run(every=1000, progress=progress)
    assert len(seen) == 3 and seen[0][1] < seen[1][1] < seen[2][1]
    assert caught.value.solution.status == "interrupted" and caught.value.time == caught.value.solution.t[-1]


def test_other_threads_go_on_during_a_run(ball):
    scene = carom.load(ball, height=1e9, end=1500.0)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    scene.run(every=1000)
    done.set()
    thread.join()
    assert counted[0] > 5


def test_runs_on_threads_have_equal_bits(ball):
    scene, found = carom.load(ball), {}

    def run(k):
        found[k] = scene.with_(e=0.1 * k).run()["y"]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, 5)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for k in range(1, 5):
        assert np.array_equal(found[k], scene.with_(e=0.1 * k).run()["y"])


def test_the_certificate_and_the_counts(ball):
    sol = carom.load(ball).run()
    assert sol.certificate["residual"] < 1e-12 and sol.statistics["steps"] == 2500
    assert sol.warnings == [] or all("message" in warning for warning in sol.warnings)
    assert sol.energy["residue"] == pytest.approx(0, abs=1e-9)


def test_a_solution_shows_itself(ball):
    sol = carom.load(ball).run()
    assert "finished" in repr(sol) and "impacts" in repr(sol)
    page = sol._repr_html_()
    # a table and pictures, and the page of the report with its animation, which opens by a click
    compact, _, report = page.partition("<details>")
    assert "<svg" in compact and "finished" in compact and len(compact) < 50_000
    assert f'srcdoc="{html.escape(sol.report())}"' in report and len(report) < 2 * len(sol.report())
    found = carom.sweep(ball, vary={"e": "0:0.9:3"})
    assert "3 runs finished" in found._repr_html_() and html.escape(found.report()) in found._repr_html_()
    assert sol.report().lstrip().lower().startswith("<!doctype html")


def test_data_frames(ball):
    pandas = pytest.importorskip("pandas")
    sol = carom.load(ball).run()
    frame = sol.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame) == sol.columns
    assert np.array_equal(frame["q.y"], sol["y"])
    assert list(sol.impacts.to_pandas()["contact"]) == sol.impacts["contact"]


def test_charts(ball):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    sol = carom.load(ball).run()
    axes = sol.plot()
    assert len(axes.lines) == 1 and np.array_equal(axes.lines[0].get_ydata(), sol["y"])
    assert len(sol.plot("y", "y'", ax=axes).lines) == 3
