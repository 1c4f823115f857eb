"""Scenes and errors go to other processes, whose results have the same bits."""

import concurrent.futures
import multiprocessing

import carom
import pytest


def last(scene):
    return float(scene.run()["y"][-1])


def refuse(scene):
    return scene.with_(e=2.0)


@pytest.fixture(scope="module")
def pool():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


def test_a_pool_of_processes_has_the_bits_of_this_one(ball, pool):
    scene = carom.load(ball)
    scenes = [scene.with_(e=e) for e in (0.2, 0.5, 0.8)]
    assert list(pool.map(last, scenes)) == [last(scene) for scene in scenes]


def test_errors_come_back_with_their_places(ball, pool):
    with pytest.raises(carom.ModelError) as caught:
        pool.submit(refuse, carom.load(ball)).result()
    assert caught.value.findings and caught.value.file


def test_a_pool_of_threads(ball):
    scene = carom.load(ball)
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda e: last(scene.with_(e=e)), (0.2, 0.5, 0.8)))
    assert found == [last(scene.with_(e=e)) for e in (0.2, 0.5, 0.8)]
