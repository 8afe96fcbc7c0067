"""A function of Python's as a GEMM backend."""

import threading

import numpy as np
import pytest

import lasolve

rng = np.random.default_rng(3)


def product(A, B, C, alpha, beta):
    C[...] = alpha * (A @ B) + (beta * C if beta != 0 else 0)


def test_works_wherever_a_name_does():
    mine = lasolve.gemm(product, name="mine", precisions=["fp64"])
    a = rng.random((300, 300))
    b = rng.random(300)
    for gemm in (mine, "mine"):
        x, report = lasolve.solve(a, b, gemm=gemm, return_report=True)
        assert report.gemm == "mine" and report.outcome == "solved"
        np.testing.assert_allclose(a @ x, b, atol=1e-9)
        assert lasolve.Factorization(a, gemm=gemm).report.gemm == "mine"
    assert "mine" in repr(mine) and mine.name == "mine"
    with pytest.raises((ValueError, RuntimeError), match="mine"):
        lasolve.solve(a.astype(np.float32), b.astype(np.float32), gemm=mine)


@pytest.mark.parametrize("limits, function", [
    (["assigns"], lambda A, B, C: np.matmul(A, B, out=C)),
    (["adds"], lambda A, B, C: np.add(C, A @ B, out=C)),
    (["row_major", "assigns"], lambda A, B, C: np.matmul(A, B, out=C)),
    (["no_gaps"], product),
])  # fmt: skip
def test_limits_are_done_around_it(limits, function):
    def checked(A, B, C, *rest):
        if "row_major" in limits:
            assert all(X.flags.c_contiguous for X in (A, B, C))
        if "no_gaps" in limits:
            assert all(X.flags.f_contiguous for X in (A, B, C))
        function(A, B, C, *rest)

    a = rng.random((200, 200)) + 20 * np.eye(200)
    x = lasolve.solve(a, np.ones(200), gemm=lasolve.gemm(checked, limits=limits))
    np.testing.assert_allclose(a @ x, 1)


@pytest.mark.parametrize("wrong, message", [
    (lambda A, B, C, alpha, beta: product(A, B, C, -alpha, beta), r"wrong is wrong: C\[\d+, \d+\] is -?\d+, not -?\d+, with m="),
    (lambda A, B, C, alpha, beta: product(A, B, C, alpha, 1), r"is nan, not"),
    (lambda A, B, C, alpha, beta: product(A.T, B, C, alpha, beta), "raises ValueError with m="),
    (lambda A, B, C, alpha, beta: product(A[:, :100], B[:100], C, alpha, beta), r"C\[\d+, \d+\] .* k=127"),
])  # fmt: skip
def test_a_wrong_one_is_named_with_its_element(wrong, message):
    with pytest.raises(ValueError, match=message):
        lasolve.gemm(wrong, name="wrong")


def test_one_that_writes_beside_c_is_named():
    def beside(A, B, C, alpha, beta):
        product(A, B, C, alpha, beta)
        np.lib.stride_tricks.as_strided(C, (C.shape[0] + 1, C.shape[1]))[-1] = 0

    with pytest.raises(ValueError, match="behind column"):
        lasolve.gemm(beside)


def test_refuses_words_and_things_that_are_none():
    for words in ({"precisions": ["fp8"]}, {"limits": ["fast"]}, {"device": "tpu"}):
        with pytest.raises(ValueError, match="unknown; known"):
            lasolve.gemm(product, **words)
    with pytest.raises(ValueError, match="on the host"):
        lasolve.gemm(product, device="cuda", limits=["assigns"])
    on_cuda = lasolve.gemm(product, device="cuda", name="there", validate=False)
    with pytest.raises((ValueError, RuntimeError), match="(?i)cuda"):
        lasolve.solve(np.eye(200), np.ones(200), gemm=on_cuda, device="cpu")
    with pytest.raises(TypeError, match="gemm is the name"):
        lasolve.solve(np.eye(2), np.ones(2), gemm=product)


def test_what_it_raises_is_raised():
    @lasolve.gemm(validate=False)
    def broken(A, B, C, alpha, beta):
        raise ZeroDivisionError("here")

    for n in (200, 30):
        with pytest.raises(ZeroDivisionError, match="here"):
            lasolve.solve(rng.random((n, n)), np.ones(n), gemm=broken, block_size=8, tuning={"small_system_order": 1})


def test_threads_take_turns():
    mine = lasolve.gemm(product, name="in turns")
    a = rng.random((150, 150))
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(lasolve.solve(a, np.ones(150), gemm=mine))) for _ in range(6)
    ]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(answers) == 6
    for x in answers:
        np.testing.assert_allclose(a @ x, 1, atol=1e-8)


def test_takes_the_former_name_of_validate_with_a_warning():
    with pytest.warns(DeprecationWarning, match="trial is validate now"):
        lasolve.gemm(lambda A, B, C, alpha, beta: None, name="untested", trial=False)
