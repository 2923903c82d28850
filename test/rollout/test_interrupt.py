"""Ctrl-C ends a rollout: of one state and of many, of both kinds of steps, with a controller and without."""
import signal
import threading
import time

import numpy as np
import pytest

from support.rollouts import PENDULUM, control, states

ENDLESS = 2_000_000_000         # steps: hours


@pytest.fixture
def ctrl_c():
    """SIGINT as KeyboardInterrupt, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_after(seconds, call):
    """The processor time from a signal on until `call` has raised KeyboardInterrupt, s."""
    sent = []

    def send():
        time.sleep(seconds)
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    end = time.process_time()
    sender.join()
    return end - sent[0]


@pytest.mark.slow
@pytest.mark.parametrize("effort", [None, control], ids=["free", "controlled"])
@pytest.mark.parametrize("lead, threads", [((), None), ((9,), 1), ((40,), 2)], ids=["one", "many", "many, threads"])
@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk45"])
def test_ctrl_c_ends_a_rollout(ctrl_c, method, lead, threads, effort):
    """Two threads, which each work all the time until the end, take twice the processor time."""
    q0, qd0 = states(PENDULUM, *lead)
    options = dict(dt=1e-3, integrator=method, threads=threads, rtol=1e-12, atol=1e-12)
    PENDULUM.rollout(q0, qd0, effort, steps=3, **options)
    before = threading.active_count()
    spent = interrupted_after(0.3, lambda: PENDULUM.rollout(q0, qd0, effort, steps=ENDLESS, every=ENDLESS, **options))
    assert spent < 0.2 * (threads or 1)
    assert threading.active_count() <= before + 1
    t, q, _ = PENDULUM.rollout(q0, qd0, effort, steps=3, **options)
    assert np.isfinite(q).all() and len(t) == 4


@pytest.mark.slow
def test_another_handler_may_let_it_go_on():
    """Who handles the signal without raising loses nothing."""
    seen, q0, qd0 = [], *states(PENDULUM)
    _, *expected = PENDULUM.rollout(q0, qd0, dt=1e-6, steps=3_000_000, every=3_000_000)
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        sender = threading.Timer(0.1, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
        sender.start()
        _, *found = PENDULUM.rollout(q0, qd0, dt=1e-6, steps=3_000_000, every=3_000_000)
        sender.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1] and all((a == b).all() for a, b in zip(found, expected, strict=True))


def test_other_threads_run_during_a_rollout(ctrl_c):
    """A rollout of one state does not hold the GIL; on another thread no signal reaches it."""
    done, q0, qd0 = [], *states(PENDULUM)
    worker = threading.Thread(target=lambda: done.append(
        PENDULUM.rollout(q0, qd0, dt=1e-6, steps=2_000_000, every=2_000_000)))
    worker.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        time.sleep(60)
    assert not done
    worker.join(60)
    assert np.isfinite(done[0][1]).all()
