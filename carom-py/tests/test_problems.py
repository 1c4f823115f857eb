"""One-step problems with their numbers."""

from pathlib import Path

import carom
import numpy as np
import pytest


def test_a_complementarity_problem():
    found = carom.solve_problem([[2.0]], [-4.0])
    assert found.lambda_.tolist() == [2.0] and abs(found.u[0]) < 1e-15
    assert found.certificate["residual"] < 1e-15


@pytest.mark.parametrize("solver", ["auto", "lemke", "enumerative"])
def test_solvers_agree(solver):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((6, 6))
    W, b = A @ A.T + np.eye(6), rng.standard_normal(6)
    found = carom.solve_problem(W, b, solver=solver)
    assert found.lambda_.min() >= -1e-12 and found.u.min() >= -1e-9
    assert abs(found.lambda_ @ found.u) < 1e-9 and np.allclose(found.u, W @ found.lambda_ + b)


def test_an_equality_is_a_linear_system():
    W, b = np.array([[4.0, 1], [1, 3]]), np.array([1.0, 2])
    found = carom.solve_problem(W, b, "equality")
    assert np.allclose(found.lambda_, np.linalg.solve(W, -b), rtol=1e-14)


@pytest.mark.parametrize("W, b, expected", [
    # both unknowns by hand: the equality holds, and the complementarity law presses
    ([[2.0, 1.0], [1.0, 3.0]], [-1.0, -4.0], [-0.2, 1.4]),
    ([[0.0, 1.0], [-1.0, 2.0]], [-1.0, 0.5], [2.5, 1.0]),
    # and where it does not: u2 = 0.5 - 0.25 > 0
    ([[2.0, 1.0], [0.5, 3.0]], [1.0, 0.5], [-0.5, 0.0]),
])
def test_a_mixed_problem(W, b, expected):
    found = carom.solve_problem(W, b, ["equality", "complementarity"])
    assert np.allclose(found.lambda_, expected, atol=1e-12) and found.certificate["residual"] < 1e-12


def test_a_relay():
    assert carom.solve_problem([[1.0]], [5.0], ("relay", -1, 1)).lambda_[0] == pytest.approx(-1)
    assert carom.solve_problem([[1.0]], [0.3], [("relay", -1, 1)]).lambda_[0] == pytest.approx(-0.3)


@pytest.mark.parametrize("slip, sticks", [(0.2, True), (0.8, False)])
def test_friction_in_the_plane(slip, sticks):
    found = carom.solve_problem(np.eye(2), [-1.0, slip], ("coulomb", 0.5, 1))
    normal, tangent = found.lambda_
    assert normal == pytest.approx(1, abs=1e-9)
    assert tangent == pytest.approx(-slip if sticks else -0.5, abs=1e-9)


def test_friction_in_space_opposes_the_slip():
    found = carom.solve_problem(np.eye(3), [-1.0, 0.6, 0.8], ("coulomb", 0.3, 2))
    assert np.allclose(found.lambda_, [1, -0.18, -0.24], atol=1e-9)


def test_laws_of_several_kinds():
    laws = ["complementarity", "equality", ("coulomb", 0.5, 1)]
    found = carom.solve_problem(np.eye(4), [-1.0, 2.0, -1.0, 0.1], laws)
    assert np.allclose(found.lambda_, [1, -2, 1, -0.1], atol=1e-9)


def test_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    W = sparse.diags([[2.0] * 50, [-1.0] * 49, [-1.0] * 49], [0, 1, -1])
    b = np.full(50, -0.1)
    assert np.array_equal(carom.solve_problem(W, b).lambda_, carom.solve_problem(W.toarray(), b).lambda_)


def test_a_problem_without_a_solution():
    with pytest.raises(carom.SolveError) as caught:
        carom.solve_problem([[-1.0]], [-1.0])
    assert caught.value.certificate["residual"] > 0.1


def test_mistakes():
    with pytest.raises(carom.OptionError, match="columb"):
        carom.solve_problem(np.eye(2), [1.0, 2.0], [("columb", 0.5, 1)])
    with pytest.raises(carom.OptionError):
        carom.solve_problem(np.eye(2), [1.0, 2.0], [("coulomb", 0.5)])
    with pytest.raises(carom.OptionError):
        carom.solve_problem(np.eye(2), [1.0])
    with pytest.raises(carom.OptionError):
        carom.solve_problem([[float("nan")]], [1.0])
    with pytest.raises(carom.OptionError, match="lemk"):
        carom.solve_problem([[1.0]], [1.0], solver="lemk")


EXAMPLES = Path(__file__).resolve().parents[2] / "examples/problems"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".dat", ".hdf5")))
def test_stored_problems_are_read_solved_and_written(name, tmp_path):
    problem = carom.read_problem(EXAMPLES / name)
    found = problem.solve()
    assert found.certificate["residual"] < 1e-8
    W, b = problem.W, problem.b
    assert np.allclose(W @ found.lambda_ + b, found.u, atol=1e-8 * max(1, np.abs(b).max()))
    kind = problem.write(tmp_path / "again")
    again = carom.read_problem(tmp_path / "again", kind)
    assert again.laws == problem.laws and np.array_equal(again.b, b)
    with pytest.raises(carom.FilesError, match="exists"):
        problem.write(tmp_path / "again")
    assert problem.write(tmp_path / "again", force=True) == kind


def test_a_problem_of_arrays_goes_through_a_file(tmp_path):
    made = carom.problem([[2.0, 1.0], [1.0, 2.0]], [-1.0, 3.0])
    assert made.kind is None and made.laws == [("unilateral", 1, 0.0)] * 2
    made.write(tmp_path / "two.dat")
    read = carom.read_problem(tmp_path / "two.dat")
    W = read.W if isinstance(read.W, np.ndarray) else read.W.toarray()
    assert W.tolist() == [[2.0, 1.0], [1.0, 2.0]] and read.kind == "lcp"
    # λ1 = 1/2, u2 = 3 + 1/2
    found = carom.solve_problem(read)
    assert np.allclose(found.lambda_, [0.5, 0]) and np.allclose(found.u, [0, 3.5])
    with pytest.raises(carom.FilesError):
        carom.read_problem(tmp_path / "none.dat")
    with pytest.raises(carom.OptionError, match="lcpp"):
        carom.read_problem(tmp_path / "two.dat", "lcpp")
