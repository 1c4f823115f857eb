"""Studies on executors of `concurrent.futures`: the bits of one thread, lost workers, and what goes on after them."""

import concurrent.futures
import multiprocessing
import os
import signal

import carom
import pytest

FILES = ("sweep.csv", "sweep.html", "sweep.jsonl")
STUDY = """version = 1
model = "ball.toml"
step = 1e-4
[sweep]
vary.e = "0:0.9:48"
vary.g = [2.0, 3.0]
measure = ["final y", "impacts"]
"""


def processes(count=2):
    return concurrent.futures.ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """A study file beside its model, and what one thread makes of it."""
    from conftest import BALL

    folder = tmp_path_factory.mktemp("study")
    (folder / "ball.toml").write_text(BALL)
    (folder / "study.toml").write_text(STUDY)
    (folder / "long.toml").write_text(STUDY.replace("step = 1e-4", "step = 1e-6"))
    found = carom.sweep(folder / "study.toml", out=folder / "serial", threads=1)
    assert len(found["e"]) == 96
    return folder, {name: (folder / "serial" / name).read_bytes() for name in FILES}


def same(folder, expected):
    return all((folder / name).read_bytes() == bytes_ for name, bytes_ in expected.items())


def test_a_study_file_has_the_bytes_of_the_command(serial, tmp_path, carom_command):
    folder, expected = serial
    carom_command("sweep", folder / "study.toml", "--out", "out", "--threads", "2", cwd=tmp_path)
    assert same(tmp_path / "out", expected)
    keywords = carom.sweep(folder / "study.toml", measure="impacts", sobol=8)
    assert len(keywords["e"]) == 8 and len(keywords["impacts"]) == 8
    with pytest.raises(KeyError):
        keywords["final y"]


def test_the_text_of_a_study_file(serial):
    text = STUDY.replace("ball.toml", "bouncing-ball").replace("vary.g = [2.0, 3.0]\n", "")
    assert len(carom.sweep(text)["e"]) == 48
    with pytest.raises(carom.ModelError) as caught:
        carom.sweep(text.replace("0:0.9:48", "0:0.9:x"))
    assert (caught.value.line, caught.value.field) == (5, "sweep.vary")
    with pytest.raises(carom.ModelError, match="lyapunov"):
        carom.lyapunov(text)


def test_threads_and_processes(serial, tmp_path):
    folder, expected = serial
    seen = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        carom.sweep(folder / "study.toml", out=tmp_path / "threads", executor=pool,
                    progress=lambda done, total: seen.append((done, total)))
    assert same(tmp_path / "threads", expected)
    assert seen[-1] == (96, 96) and sorted(seen) == seen
    with processes() as pool:
        found = carom.sweep(folder / "study.toml", executor=pool)
        carom.sweep(folder / "study.toml", out=tmp_path / "processes", executor=pool)
    assert same(tmp_path / "processes", expected)
    assert found["final y"].tolist() == carom.sweep(folder / "study.toml")["final y"].tolist()


def test_a_killed_process_and_the_same_call_again(serial, tmp_path):
    folder, expected = serial
    out = tmp_path / "out"
    with processes() as pool:
        victims = [1]

        def kill(done, total):
            if 0 < done < total and victims:
                victims.clear()
                os.kill(next(iter(pool._processes)), signal.SIGKILL)

        with pytest.raises(carom.StudyError, match="the same call goes on") as caught:
            carom.sweep(folder / "study.toml", out=out, executor=pool, progress=kill)
    rows = (out / "sweep.jsonl").read_text().splitlines()
    assert 1 < len(rows) < 97 and not (out / "sweep.csv").exists()
    assert f"{len(rows) - 1} of 96 units" in str(caught.value)
    begun = []
    with processes() as pool:
        carom.sweep(folder / "study.toml", out=out, executor=pool, progress=lambda d, n: begun.append(n))
    assert begun[-1] == 97 - len(rows) and same(out, expected)


def test_progress_on_threads_of_this_process(serial):
    folder, _ = serial
    seen = []
    carom.sweep(folder / "study.toml", threads=1, progress=lambda *numbers: seen.append(numbers))
    assert all(0 <= done <= total == 96 for done, total in seen) and sorted(seen) == seen

    def stop(done, total):
        raise ValueError(f"enough after {done} of {total}")

    with pytest.raises(ValueError, match="enough"):
        carom.sweep(folder / "long.toml", threads=1, progress=stop)


class Forgetful(concurrent.futures.Executor):
    """Loses some batches, as an engine does whose worker has died and that goes on."""

    def __init__(self, lost):
        self.lost, self.calls = lost, 0

    def submit(self, function, /, *arguments):
        self.calls += 1
        future = concurrent.futures.Future()
        if self.calls in self.lost:
            future.set_exception(ConnectionError("a worker is gone"))
        else:
            future.set_result(function(*arguments))
        return future


def test_lost_batches_are_done_again(serial, tmp_path):
    folder, expected = serial
    engine = Forgetful({1, 3})
    carom.sweep(folder / "study.toml", out=tmp_path / "out", executor=engine, workers=1)
    assert engine.calls > 3 and same(tmp_path / "out", expected)
    with pytest.raises(carom.StudyError, match="a worker is gone"):
        carom.sweep(folder / "study.toml", executor=Forgetful(range(1000)), workers=1)


def test_shards_and_writers(serial, tmp_path):
    folder, expected = serial
    for shard in ((1, 3), "auto", (3, 3)):
        carom.sweep(folder / "study.toml", out=tmp_path / "out", shard=shard)
    carom.sweep(folder / "study.toml", out=tmp_path / "out")
    assert same(tmp_path / "out", expected)
    with pytest.raises(carom.OptionError, match="shard"):
        carom.sweep(folder / "study.toml", out=tmp_path / "out", shard="2 of 3")
    with pytest.raises(carom.OptionError, match="shard"):
        carom.sweep(folder / "study.toml", out=tmp_path / "x", shard=(1, 2), executor=Forgetful(()))
    with pytest.raises(carom.OptionError, match="submit"):
        carom.sweep(folder / "study.toml", executor=7)


def test_sobol_points_are_those_of_scipy(ball):
    qmc = pytest.importorskip("scipy.stats.qmc")
    names = ["e", "g", "height"]
    found = carom.sweep(ball, vary={name: "0.125:0.625" for name in names}, sobol=64, seed=0, measure="impacts")
    points = 0.125 + 0.5 * qmc.Sobol(3, scramble=False).random(64)
    assert all((found[name] == points[:, k]).all() for k, name in enumerate(names))
