"""The pieces of work that are measured; whoever takes part is first seen to compute what we do."""
import numpy as np

from . import robots
from .agreement import those_who_agree
from .calls import ONE_BY_ONE, States
from .contestants import OURS, Who
from .timing import measure

STATES = 32                             # different states of a call on one state, one after the other
BATCH, LARGE = 4096, 65536      # states; the second is where threads are worth it for small robots too
LENGTHS = (10, 50, 100, 300, 1000)      # joints of the chains
DT = 1e-3                               # s, step of all simulations
STEPS, BATCH_STEPS = 500, 100           # of one robot, and of each of a batch
REACH = 0.2                             # rad, rad/s: simulations begin so near zero, and none gets too wild
PAUSE = 5e-3                            # s before a turn on several threads: those of OpenMP spin for some milliseconds
WARM = 20e-3            # s that a turn on a batch runs before it is timed


def one_state(case, contestants, effort):
    """Every quantity at one state, by everybody who has it."""
    libraries = (OURS, "Pinocchio") if case.floating else None
    for quantity, states, agreed in agreed_calls(case, contestants, libraries):
        yield measure(subject("one state", quantity, case), agreed, effort, prepare=states.choose)


def growth(contestants, effort, lengths=LENGTHS):
    """Every quantity at one state of chains, all lengths in one measurement."""
    calls, all_states = {}, []
    for n in lengths:
        libraries = (OURS, "Pinocchio", "MuJoCo")
        for quantity, states, agreed in agreed_calls(robots.chain(n), contestants, libraries, joints=n):
            calls.setdefault(quantity, {}).update(agreed)
            all_states.append(states)

    def choose(k):
        for states in all_states:
            states.choose(k)
    for quantity, agreed in calls.items():
        yield measure({"work": "growth", "quantity": quantity}, agreed, effort, prepare=choose)


def agreed_calls(case, contestants, libraries=None, **settings):
    """For each quantity: its name, the states, and the calls {Who: Call} that agree at three of them."""
    states = States(case.joints, STATES, floating=case.floating)
    offers = {name: peer.calls(states) for name, peer in contestants.peers(case, libraries).items()}
    for quantity in offers[OURS]:
        calls = {name: offer[quantity] for name, offer in offers.items() if quantity in offer}
        for k in range(3):
            states.choose(k)
            agreed = those_who_agree(calls, quantity, case, contestants.absent, **settings)
            calls = {name: variants for name, variants in calls.items() if Who(name, **settings) in agreed}
        yield quantity, states, agreed


def batch(case, contestants, effort, threads, count=BATCH):
    """Inverse and forward dynamics of many states, on each number of threads, and of BATCH states derivatives and
    regressor."""
    states = States(case.joints, count, floating=case.floating)
    peers = contestants.peers(case, (OURS, "Pinocchio"))
    offers = {k: {name: peer.batch_calls(states, k) for name, peer in peers.items()} for k in threads}
    for quantity in offers[threads[0]][OURS]:
        if quantity in ONE_BY_ONE and count > BATCH:
            continue
        calls = {}
        for k, offer in offers.items():
            named = {name: quantities[quantity] for name, quantities in offer.items() if quantity in quantities}
            if not named:
                continue
            calls |= those_who_agree(named, quantity, case, contestants.absent, threads=k)
        name = "batch" if count == BATCH else "large batch"
        yield measure(subject(name, quantity, case), calls, effort, count, pause=PAUSE, warm=WARM)


def rollout(case, contestants, effort):
    """One robot, simulated by semi-implicit Euler."""
    states = States(case.joints, STATES, REACH)
    peers = contestants.peers(case, (OURS, "MuJoCo"))
    short = {name: peer.rollout_calls(states, DT, 100) for name, peer in peers.items()}
    those_who_agree(short, "forward simulation", case, contestants.absent)
    calls = {Who(name, variant): call for name, peer in peers.items()
             for variant, call in peer.rollout_calls(states, DT, STEPS).items()}
    for k in range(STATES):
        states.choose(k)
        for who, call in calls.items():
            if not np.abs(call.value()).max() < 1e3:
                raise ArithmeticError(f"{who}: the simulation of {case.name} runs away, and its time would say nothing")
    yield measure(subject("rollout", "semi-implicit Euler", case), calls, effort, STEPS, prepare=states.choose)


def rollouts(case, contestants, effort, threads):
    """Many robots, simulated by semi-implicit Euler on each number of threads."""
    states = States(case.joints, BATCH, REACH)
    peers = contestants.peers(case, (OURS, "MuJoCo"))
    calls = {}
    for count in threads:
        named = {name: peer.rollouts_calls(states, DT, BATCH_STEPS, count) for name, peer in peers.items()}
        calls |= those_who_agree(named, "forward simulation", case, contestants.absent, threads=count)
    units = BATCH * BATCH_STEPS
    yield measure(subject("rollouts", "semi-implicit Euler", case), calls, effort, units, pause=PAUSE, warm=WARM)


def subject(work, quantity, case):
    """What identifies a measurement."""
    floating = "floating base, " if case.floating else ""
    return {"work": floating + work, "quantity": quantity, "robot": case.name, "joints": case.joints}
