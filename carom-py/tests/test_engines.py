"""Engines of others distribute a study: Dask with a worker that is killed, MPI, HyperQueue."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import carom
import pytest

pytestmark = pytest.mark.skipif("CAROM_LONG" not in os.environ, reason="long: run by `cargo xtask test --all`")

FILES = ("sweep.csv", "sweep.html", "sweep.jsonl")
STUDY = """version = 1
model = "impact-oscillator"
end = 20.0
[sweep]
vary.om = "2.5:2.9:100"
measure = ["final u", "impacts"]
"""


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    (folder / "study.toml").write_text(STUDY)
    carom.sweep(folder / "study.toml", out=folder / "serial", threads=1)
    return folder, {name: (folder / "serial" / name).read_bytes() for name in FILES}


def same(folder, expected):
    return all((folder / name).read_bytes() == bytes_ for name, bytes_ in expected.items())


def test_dask_goes_on_after_a_killed_worker(serial, tmp_path):
    import distributed

    folder, expected = serial
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            victims = list(client.run(os.getpid).values())[:1]

            def kill(done, total):
                if 0 < done < total and victims:
                    os.kill(victims.pop(), signal.SIGKILL)

            carom.sweep(folder / "study.toml", out=tmp_path / "out", executor=client.get_executor(), progress=kill)
            assert not victims
    assert same(tmp_path / "out", expected)


MPI = """
import sys
import carom
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        carom.sweep(sys.argv[1], out=sys.argv[2], executor=pool, workers=2)
"""


def test_mpi_ranks(serial, tmp_path):
    folder, expected = serial
    (tmp_path / "ranks.py").write_text(MPI)
    start = Path(sys.executable).parent / "mpiexec"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = [start, "-n", "3", "--oversubscribe", sys.executable, "-m", "mpi4py.futures", tmp_path / "ranks.py"]
    done = subprocess.run([*words, folder / "study.toml", tmp_path / "out"], env={**os.environ, **root},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert same(tmp_path / "out", expected)


def test_hyperqueue_runs_the_shards(serial, tmp_path):
    from hyperqueue import Job, LocalCluster
    from hyperqueue.cluster import WorkerConfig

    folder, expected = serial
    words = [sys.executable, "-m", "carom", "sweep", str(folder / "study.toml"), "--out", str(tmp_path / "out")]
    job = Job(default_workdir=tmp_path, default_env=dict(os.environ))
    for k in range(1, 5):
        job.program([*words, "--quiet", "--threads", "1", "--shard", f"{k}/4"])
    with LocalCluster(worker_config=WorkerConfig(cores=2)) as cluster:
        client = cluster.client()
        assert client.wait_for_jobs([client.submit(job)])
    assert len(list((tmp_path / "out").glob("sweep.*-of-4.jsonl"))) == 4
    carom.sweep(folder / "study.toml", out=tmp_path / "out")
    assert same(tmp_path / "out", expected)


def test_notebooks_as_pages(tmp_path):
    folder = Path(__file__).resolve().parents[1] / "notebooks"
    for path in sorted(folder.glob("*.ipynb")):
        words = ["-m", "nbconvert", "--execute", "--to", "html", "--output-dir", tmp_path, path]
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        assert "<table" in (tmp_path / f"{path.stem}.html").read_text(), path.stem
