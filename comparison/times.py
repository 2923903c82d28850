"""Times of all algorithms of a quantity side by side, for one state and for the states of a batch."""
from functools import cache

import numpy as np

import screw_dynamics as sd
from benchmarks import robots
from benchmarks.calls import Call, States
from benchmarks.peers.ours import chain
from benchmarks.timing import Effort, measure
from screw_dynamics.compiled.algorithm import LANES, NUMBER
from screw_dynamics.compiled.calls import Workspaces, bind, ready
from screw_dynamics.compiled.specialize import straight_line
from screw_dynamics.compiled.workspace import Tables, workspace

from . import algorithms
from .structures import GRAVITY, rows

FULL, QUICK = Effort(repeats=101, seconds=1.0, least=11), Effort(repeats=3, seconds=0.05, least=3)
LENGTHS, FEW_LENGTHS = (2, 3, 5, 10, 20, 50, 100), (2, 10)
SPECIALIZED = "UR5"     # whose specialized kernels are measured too; compiling those of longer robots takes minutes
ONE, BATCH = "one call", "batch"
AGAIN = 4               # attempts to measure a case without much scatter
LONGEST = 32            # joints: n^2 Jacobians' columns of more would be written to memory and not to the caches
COUNT, FEWER = 512, 64  # states of a batch, and of Jacobians: what is computed stays in the caches
INPUTS = "q", "qd", "x", "y"
# Quantities that are timed for a few robots alone; those of the last body require a chain.
ELSEWHERE = {**algorithms.MATRICES, "accelerations": algorithms.MOTIONS["accelerations"],
             **{name: algorithms.LAST[name] for name in ("acceleration of the last body", "Jacobian of the last body")}}
OTHERS, FEW_OTHERS = ("Panda", "Talos", "chain 20"), ("Panda",)


def measurements(quick=False):
    """Measure everything, one Measurement after the other; its subject says what, of which robot, how."""
    effort, lengths = (QUICK, FEW_LENGTHS) if quick else (FULL, LENGTHS)
    for name in (*(f"chain {n}" for n in lengths), *(robots.REAL if not quick else [SPECIALIZED])):
        for quantity in algorithms.IN_EACH:
            if not (quantity == "Jacobians" and model_of(name).n > LONGEST):
                yield from of_robot(quantity, name, effort)
        if name == SPECIALIZED and not quick:
            for quantity in algorithms.DYNAMICS:
                yield from of_robot(quantity, name, effort, specialized=True)
    for name in FEW_OTHERS if quick else OTHERS:
        for quantity in ELSEWHERE:
            if not (quantity in algorithms.LAST and name == "Talos"):
                yield from of_robot(quantity, name, effort)


def of_robot(quantity, name, effort, specialized=False):
    """Measure a quantity for a robot both ways."""
    for way in (ONE, BATCH):
        yield of_case(quantity, name, way, specialized, effort)


def of_case(quantity, name, way, specialized, effort):
    """Measure all forms of a quantity for a robot, one way."""
    model, read = model_of(name), rows(model_of(name))
    forms = algorithms.ALL[quantity]
    if specialized:
        forms = {form: line for form, line in straight_lines(quantity, name).items() if line is not forms[form]}
    states = States(model.n, FEWER if quantity == "Jacobians" else COUNT)
    calls = one_call(forms, model, read, states) if way == ONE else batch_call(forms, model, read, states)
    if quantity in algorithms.SAME:
        agree(quantity, calls)
    subject = {"quantity": quantity, "robot": name, "joints": model.n, "way": way, "specialized": specialized}
    units = states.count if way == BATCH else 1
    for _ in range(AGAIN):
        m = measure(subject, calls, effort, units, prepare=states.choose)
        if effort != FULL or not scattered(m):
            break
    return m


def scattered(measurement):
    """Whether other work was in the way: the first decile of a form is far above its least time, or the median is."""
    return any(lowest_tenth(seconds) > 1.05 * min(seconds) or np.median(seconds) > 1.3 * min(seconds)
               for seconds in measurement.seconds.values())


@cache
def model_of(name):
    """The model of a robot by its name: of a chain of the benchmark, or of a real one."""
    kind, _, n = name.partition(" ")
    return sd.Robot(chain(int(n))).model if kind == "chain" else sd.Robot.from_urdf(robots.real(name).urdf).model


@cache
def straight_lines(quantity, name):
    """{form: the CompiledAlgorithm of a robot's straight lines}."""
    return {form: straight_line(entry, *rows(model_of(name))) for form, entry in algorithms.ALL[quantity].items()}


def one_call(forms, model, read, states):
    """{form: Call} of the kernel on the chosen state, as Robot calls it."""
    return _calls(forms, model, read, [states.one[name] for name in ("q", "qd", "tau", "qdd")], NUMBER)


def batch_call(forms, model, read, states):
    """{form: Call} of a batch on SIMD lanes and one thread, as Robot calls it."""
    inputs = [states.rows[name] for name in ("q", "qd", "tau", "qdd")]
    return _calls(forms, model, read, inputs, LANES, states.count)


def _calls(forms, model, read, inputs, kind, *lead):
    tables, calls = of_model(model, read), {}
    memory, workspaces = workspace(tables), Workspaces(tables)
    for form, entry in forms.items():
        shape = entry.shape(model.n, len(model.parents))
        kernel = bind(entry, tables, memory, workspaces, shape)
        ready(kernel, kind)
        names = dict(zip(INPUTS, inputs, strict=True), kernel=kernel, out=np.empty((*lead, *shape)))
        arguments = ", ".join([*map(str, _target(entry, read)), *INPUTS[:entry.inputs], "out", "1" if lead else "None"])
        calls[form] = Call(f"kernel({arguments})", names, "out")
    return calls


def agree(quantity, calls):
    """Raise ArithmeticError unless all calls agree to machine precision times the condition number."""
    found = {form: call.value() for form, call in calls.items()}
    for form, result in found.items():
        error = np.abs(result - found[algorithms.BODY]).max() / np.abs(found[algorithms.BODY]).max()
        if not error < 1e-13 * result.shape[-1] ** 3 + 1e-12:
            raise ArithmeticError(f"{quantity} in the form '{form}' differs by {error:.1e}")


def typical(measurement, form):
    """The lowest tenth of the times of a form."""
    return lowest_tenth(measurement.seconds[form])


def lowest_tenth(seconds):
    """The first decile of times, on which other work of the machine has less influence than on the median."""
    return float(np.quantile(seconds, 0.1))


def ratio(measurement, form):
    """How many times as long a form takes as the body-fixed one, measured in turns."""
    return typical(measurement, form) / typical(measurement, algorithms.BODY)


def of_model(model, read):
    """What a workspace holds of a model with these rows, as Robot fills it."""
    return Tables(read.links, read.frames, model.n, model.nq, model.all_pose_sources(GRAVITY))


def _target(entry, read):
    return (read.target.packed,) if entry.targeted else ()
