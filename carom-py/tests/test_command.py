"""The command of the package."""

import os
import signal
import subprocess
import sys
import time

import carom


def run(*words, **more):
    return subprocess.run([sys.executable, "-m", "carom", *words], capture_output=True, text=True, timeout=300, **more)


def test_version_lists_and_pages(tmp_path):
    assert carom.__version__ in run("--version").stdout
    assert "moreau-jean" in run("list", "schemes").stdout
    assert "# carom for Python" in run("docs", "python").stdout


def test_exit_codes(tmp_path):
    assert run("run", "bouncing-ball", "--quiet", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out/bouncing-ball/summary.json").is_file()
    assert run("run", "nothing", cwd=tmp_path).returncode == 2
    assert run("run", "--nonsense", cwd=tmp_path).returncode == 2


def test_the_console_script_is_installed():
    script = os.path.join(os.path.dirname(sys.executable), "carom")
    done = subprocess.run([script, "list", "solvers"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "lemke" in done.stdout


def test_ctrl_c_ends_the_command_with_its_results(tmp_path, ball):
    (tmp_path / "long.toml").write_text(ball.replace("end = 2.5", "end = 1e6").replace("height = 1.0", "height = 1e12"))
    words = [sys.executable, "-m", "carom", "run", "long.toml", "--every", "1000", "--out", "out"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out/.carom/run.new").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "interrupted" in err and carom.open(tmp_path / "out").status == "interrupted"


def test_a_command_in_the_process_leaves_handlers_alone(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGINT)
    assert carom.command(["run", "bouncing-ball", "--quiet"]) == 0
    assert carom.command(["list", "schemes"]) == 0
    assert carom.command(["nonsense"]) == 2
    assert signal.getsignal(signal.SIGINT) is before
    assert "moreau-jean" in capfd.readouterr().out
    # a handler of Python hears the signal as before
    heard = []
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.01)
    assert heard == [1]
