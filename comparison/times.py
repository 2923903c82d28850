"""Times of all algorithms of a quantity side by side, for one state and for the states of a batch."""
import numpy as np

import screw_dynamics as sd
from benchmarks import robots
from benchmarks.calls import Call, States
from benchmarks.peers.ours import chain
from benchmarks.timing import Effort, measure
from screw_dynamics.compiled.batch import Workspaces, evaluate_batch
from screw_dynamics.compiled.specialize import straight_line
from screw_dynamics.compiled.workspace import Rows, workspace

from . import algorithms
from .chains import rows

FULL, QUICK = Effort(repeats=101, seconds=1.5, least=11), Effort(repeats=3, seconds=0.05, least=3)
LENGTHS, FEW_LENGTHS = (2, 3, 5, 10, 20, 50, 100), (2, 10)
SPECIALIZED = "UR5"     # whose specialized kernels are measured too; compiling those of longer robots takes minutes
ONE, BATCH = "one call", "batch"
LONGEST = 32            # joints: n^2 Jacobians' columns of more would be written to memory and not to the caches
COUNT, FEWER = 512, 64  # states of a batch, and of Jacobians: what is computed stays in the caches
INPUTS = "q", "qd", "x"


def measurements(quick=False):
    """Measure everything, one Measurement after the other; its subject says what, of which robot, how."""
    effort, lengths = (QUICK, FEW_LENGTHS) if quick else (FULL, LENGTHS)
    for n in lengths:
        yield from of_robot(f"chain {n}", sd.Robot(chain(n)).model, effort)
    for name in robots.REAL if not quick else [SPECIALIZED]:
        model = sd.Robot.from_urdf(robots.real(name).urdf).model
        yield from of_robot(name, model, effort)
        if name == SPECIALIZED and not quick:
            yield from of_robot(name, model, effort, specialized=True)


def of_robot(name, model, effort, specialized=False):
    """Measure every quantity that is there in several representations."""
    read = rows(model)
    for quantity, forms in algorithms.IN_EACH.items():
        if quantity == "Jacobians" and model.n > LONGEST or specialized and quantity not in algorithms.DYNAMICS:
            continue
        if specialized:
            forms = {form: straight_line(entry, *read) for form, entry in forms.items()}
            forms = {form: entry for form, entry in forms.items() if entry is not algorithms.IN_EACH[quantity][form]}
        states = States(model.n, FEWER if quantity == "Jacobians" else COUNT)
        for way, units, calls in ((ONE, 1, one_call(forms, model, read, states)),
                                  (BATCH, states.count, batch_call(forms, model, read, states))):
            if quantity in algorithms.DYNAMICS:
                agree(quantity, calls)
            subject = {"quantity": quantity, "robot": name, "joints": model.n, "way": way, "specialized": specialized}
            yield measure(subject, calls, effort, units, prepare=states.choose)


def one_call(forms, model, read, states):
    """{form: Call} of the compiled entry point on the chosen state, as Robot calls it."""
    memory, calls = workspace(of_model(model, read)), {}
    inputs = [states.one[name] for name in ("q", "qd", "tau")]
    for form, entry in forms.items():
        names = dict(zip(INPUTS, inputs, strict=True), one=entry.one, memory=memory, out=_room(entry, model))
        arguments = ", ".join(["memory", *map(str, _target(entry, read)), *INPUTS[:entry.inputs], "out"])
        calls[form] = Call(f"one({arguments})", names, "out")
    return calls


def batch_call(forms, model, read, states):
    """{form: Call} of a batch on SIMD lanes and one thread, as Robot calls it."""
    memory = Workspaces(of_model(model, read))
    inputs = [states.rows[name] for name in ("q", "qd", "tau")]
    return {form: Call("evaluate(entry, memory, target, inputs, out, 1)",
                       {"evaluate": evaluate_batch, "entry": entry, "memory": memory, "target": _target(entry, read),
                        "inputs": inputs[:entry.inputs], "out": _room(entry, model, states.count)}, "out")
            for form, entry in forms.items()}


def agree(quantity, calls):
    """Raise ArithmeticError unless all calls compute the same to rounding, which grows with the condition number."""
    found = {form: call.value() for form, call in calls.items()}
    for form, result in found.items():
        error = np.abs(result - found[algorithms.BODY]).max() / np.abs(found[algorithms.BODY]).max()
        if not error < 1e-13 * result.shape[-1] ** 3 + 1e-12:
            raise ArithmeticError(f"{quantity} in the form '{form}' differs by {error:.1e}")


def typical(measurement, form):
    """The lower quartile of the times, on which other work of the machine has less influence than on the median."""
    return float(np.quantile(measurement.seconds[form], 0.25))


def ratio(measurement, form):
    """How many times as long a form takes as the body-fixed one, measured in turns."""
    return typical(measurement, form) / typical(measurement, algorithms.BODY)


def of_model(model, read):
    """What a workspace holds of a model with these rows, as Robot fills it."""
    return Rows(read.links, read.frames, model.n, model.nq)


def _target(entry, read):
    return (read.target.packed,) if entry.targeted else ()


def _room(entry, model, *lead):
    return np.empty((*lead, *entry.shape(model.n, len(model.parents))))
