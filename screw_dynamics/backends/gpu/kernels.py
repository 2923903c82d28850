"""CUDA kernels of a robot's functions: the straight-line code of the exported C, and code that reads a thread's state.

A result is written when it is computed, so that it occupies no register until the end; it never aliases an argument.
Results are written to shared memory and copied to global memory in one contiguous piece: separate writes by each
thread would be scattered, which takes ten times as long."""
import dataclasses
from collections.abc import Iterator

from screw_dynamics.c_code.functions import Array, Function
from screw_dynamics.c_code.layout import Export
from screw_dynamics.c_code.printing import SINES, identifier
from screw_dynamics.c_code.sines import sines_and_cosines
from screw_dynamics.c_code.source import definition

KERNEL, ROLLOUT = "of_states", "rollout"
_ON_DEVICE = "static __device__ __forceinline__ "
_STATE = "  const long long first = blockIdx.x * (long long)blockDim.x, state = first + threadIdx.x;"


def of_states(export: Export, shared: bool) -> str:
    """Return a kernel of the single function in an export: of_states(states, inputs, outputs).

    An array input has three arguments: its memory, and the strides in numbers between states and between entries. A
    number has one. Outputs are contiguous. shared: True if each thread has `numbers_shared` numbers of shared
    memory."""
    [(function, _)] = export.functions
    scalar, inputs, outputs = export.dialect.scalar, function.inputs, function.outputs
    arguments = [*(text for x in inputs for text in _given(scalar, x)), *(_result(scalar, x) for x in outputs)]
    call = f"{export.called(function)}({', '.join(identifier(x.name) for x in (*inputs, *outputs))});"
    return "\n".join([
        *_functions(export), _heading(KERNEL, ["states"], arguments), _STATE,
        *(_in_shared_memory(scalar, outputs) if shared else []),
        "  if (state < states) {", *(f"  {line}" for x in inputs for line in _read(scalar, x)),
        *([] if shared else [f"    {scalar} *{x.name} = {x.name}_of + {x.size} * state;" for x in outputs]),
        f"    {call}", "  }", *(_from_shared_memory(outputs) if shared else []), "}", ""])


def numbers_shared(function: Function) -> int:
    """Return the count of numbers in shared memory that a thread needs for its results.

    It is odd for each result, so that the threads of a warp use different banks."""
    return sum(x.size | 1 for x in function.outputs)


def _in_shared_memory(scalar, outputs) -> Iterator[str]:
    """Yield lines that define pointers to the results of a block and of a thread in shared memory."""
    yield f"  extern __shared__ {scalar} shared_memory[];"
    begin = "shared_memory"
    for x in outputs:
        yield f"  {scalar} *const {x.name}_shared = {begin};"
        yield f"  {scalar} *const {x.name} = {x.name}_shared + {x.size | 1} * threadIdx.x;"
        begin = f"{x.name}_shared + {x.size | 1} * blockDim.x"


def _from_shared_memory(outputs) -> Iterator[str]:
    """Yield lines that copy the results of a block to global memory."""
    yield "  __syncthreads();"
    yield "  const int here = states - first < blockDim.x ? states - first : blockDim.x;"
    for x in outputs:
        yield (f"  for (int k = threadIdx.x; k < here * {x.size}; k += blockDim.x) "
               f"{x.name}_of[first * {x.size} + k] = {x.name}_shared[k / {x.size} * {x.size | 1} + k % {x.size}];")


def rollout(export: Export) -> str:
    """Return a kernel for an export of `step`: rollout(states, samples, every, q, qd, tau, dt, q_next, qd_next).

    It computes `samples` samples after the first, with `every` steps each. Inputs are as in `of_states`; tau has a
    fourth argument, the stride in numbers between steps."""
    [(function, _)] = export.functions
    scalar, called = export.dialect.scalar, export.called(function)
    q, qd, tau, dt, *_ = function.inputs
    given = [*_given(scalar, q), *_given(scalar, qd), *_given(scalar, tau), "long long tau_steps", *_given(scalar, dt)]
    results = [_result(scalar, x) for x in function.outputs]

    def sampled(x, name):
        place = f"{name}_next_of[(state * (samples + 1) + sample) * {x.size} + k]"
        return f"    for (int k = 0; k < {x.size}; k++) {place} = {name}[k];"
    return "\n".join([
        *_functions(export), _heading(ROLLOUT, ["states", "samples", "every"], [*given, *results]), _STATE,
        "  if (state >= states) return;", *_read(scalar, q), *_read(scalar, qd), f"""\
  {scalar} tau[{tau.size}], q_next[{q.size}], qd_next[{qd.size}];
  const {scalar} *next_tau = tau_of + state * tau_states;
  for (long long sample = 0; ; sample++) {{
{sampled(q, "q")}
{sampled(qd, "qd")}
    if (sample == samples) return;
    for (long long step = 0; step < every; step++, next_tau += tau_steps) {{
      for (int k = 0; k < {tau.size}; k++) tau[k] = next_tau[k * tau_entries];
      {called}(q, qd, tau, dt, q_next, qd_next);
      for (int k = 0; k < {q.size}; k++) q[k] = q_next[k];
      for (int k = 0; k < {qd.size}; k++) qd[k] = qd_next[k];
    }}
  }}""", "}", ""])


def _heading(name, counts, arguments):
    """Return the declaration line of a kernel."""
    given = ", ".join([*(f"long long {count}" for count in counts), *arguments])
    return f'extern "C" __global__ void {name}({given}) {{'


def _functions(export: Export) -> Iterator[str]:
    """Yield the C code of an export's function, and of sines and cosines if it calls them, as device functions."""
    export = dataclasses.replace(export, dialect=export.dialect._replace(in_place=False))
    [(function, straight)] = export.functions
    lines = definition(export, function, straight)
    if any(f"{export.name}_{SINES}(" in line for line in lines):
        yield from (line.replace("static ", _ON_DEVICE, 1) if line.startswith("static ") else line
                    for line in sines_and_cosines(export.dialect))
    yield from (_ON_DEVICE + line if line.startswith("void ") else line for line in lines)


def _given(scalar, x: Array) -> list[str]:
    """Return the kernel arguments of an input."""
    name = identifier(x.name)
    if x.shape == ():
        return [f"{scalar} {name}"]
    return [f"const {scalar} *__restrict__ {name}_of", f"long long {name}_states", f"long long {name}_entries"]


def _result(scalar, x: Array) -> str:
    """Return the kernel argument of an output."""
    return f"{scalar} *__restrict__ {x.name}_of"


def _read(scalar, x: Array) -> list[str]:
    """Return lines that read an input of a state."""
    name = identifier(x.name)
    if x.shape == ():
        return []
    return [f"  {scalar} {name}[{x.size}];",
            f"  for (int k = 0; k < {x.size}; k++) {name}[k] = {name}_of[state * {name}_states + k * {name}_entries];"]
