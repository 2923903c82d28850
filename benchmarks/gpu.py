"""A GPU: our kernels beside frax and MJX, and what its memory allows: python -m benchmarks.gpu.

Every library has the same URDF, the same states in its own arrays on the GPU, and as many calls in flight as it likes
before the clock is read. A result that differs from Robot's has no time. The limit is what reading the inputs and
writing the results once would take, at the rate at which the GPU copies a large array.

frax and MJX are measured where they are installed, beside CuPy."""
import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")        # CuPy takes memory, too
os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")        # single precision, not TF32

import cupy
import numpy as np

import screw_dynamics as sd

from . import machine, robots

BATCHES = 4096, 65_536, 1_048_576
CHECKED = 8                                     # states
TOLERANCE = {"float64": 1e-10, "float32": 2e-3}
STEPS, DT = 100, 1e-3
TURNS, SECONDS = 7, 0.05                        # and the calls of a turn take at least so long
QUANTITIES = "inverse dynamics", "forward dynamics", "mass matrix", "Jacobian", f"{STEPS} steps"


def ours(case, robot, states, dtype):
    """{quantity: a function without arguments} of the kernels."""
    gpu = sd.on_gpu(robot)
    q, qd, x = (cupy.asarray(a, dtype=dtype) for a in states)
    return {"inverse dynamics": lambda: gpu.inverse_dynamics(q, qd, x),
            "forward dynamics": lambda: gpu.forward_dynamics(q, qd, x),
            "mass matrix": lambda: gpu.mass_matrix(q),
            "Jacobian": lambda: gpu.jacobian(q, case.tip, "hybrid"),
            f"{STEPS} steps": lambda: gpu.rollout(q, qd, x, DT, STEPS, every=STEPS)[1][:, -1]}


def frax(case, robot, states, dtype):
    """The same by frax; on floating bases it has other velocities."""
    if case.floating:
        return {}
    import jax
    import jax.numpy as jnp
    from frax.core.manipulator import Manipulator
    from frax.core.robot import Robot
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(with_inertias(case.urdf))
        peer = (Manipulator if case.name == "Panda" else Robot)(path, joint_ordering=robot.joint_names)
    q, qd, x = (jnp.asarray(a, dtype=dtype) for a in states)
    up = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0], dtype=dtype)

    def batch(function):
        return jax.jit(jax.vmap(function))
    inverse = batch(lambda q, qd, x: peer.rnea(q, qd, x, up, None))
    forward = batch(lambda q, qd, x: peer.forward_dynamics(q, qd, x, None))
    mass = batch(peer.crba)
    return {"inverse dynamics": lambda: inverse(q, qd, x), "forward dynamics": lambda: forward(q, qd, x),
            "mass matrix": lambda: mass(q)}


def with_inertias(urdf):
    """A URDF in which each link has an inertia, also one that never moves, as frax wants it."""
    root = ElementTree.fromstring(urdf)
    for link in root.findall("link"):
        if link.find("inertial") is None:
            link.append(ElementTree.fromstring(robots.NOTHING))
    return ElementTree.tostring(root, encoding="unicode")


def mjx(case, robot, states, dtype):
    """The same by MJX."""
    import jax
    import jax.numpy as jnp
    from mujoco import mjx as peer

    from .peers import mujoco
    if case.floating:
        return {}
    model = mujoco.Peer(case).model
    model.opt.timestep = DT
    q, qd, x = (jnp.asarray(a, dtype=dtype) for a in states)
    on_gpu = peer.put_model(model)
    start = peer.make_data(on_gpu)

    def batch(function):
        return jax.jit(jax.vmap(function))
    inverse = batch(lambda q, qd, x: peer.inverse(
        on_gpu, start.replace(qpos=q, qvel=qd, qacc=x)).qfrc_inverse)
    forward = batch(lambda q, qd, x: peer.forward(
        on_gpu, start.replace(qpos=q, qvel=qd, qfrc_applied=x)).qacc)

    def moved(q, qd, x):
        data = start.replace(qpos=q, qvel=qd, qfrc_applied=x)
        return jax.lax.fori_loop(0, STEPS, lambda _, data: peer.step(on_gpu, data), data).qpos
    motion = batch(moved)
    return {"inverse dynamics": lambda: inverse(q, qd, x), "forward dynamics": lambda: forward(q, qd, x),
            f"{STEPS} steps": lambda: motion(q, qd, x)}


CONTESTANTS = {"ours": ours, "frax": frax, "MJX": mjx}


def right(case, robot, states):
    """What Robot answers to the first states."""
    q, qd, x = (a[:CHECKED] for a in states)
    return {"inverse dynamics": robot.inverse_dynamics(q, qd, x), "forward dynamics": robot.forward_dynamics(q, qd, x),
            "mass matrix": robot.mass_matrix(q), "Jacobian": robot.jacobian(q, case.tip, "hybrid"),
            f"{STEPS} steps": robot.rollout(q, qd, x, DT, STEPS, every=STEPS)[1][:, -1]}


def disagreement(found, wanted):
    """How far the first states' results are from Robot's, relative to the largest number."""
    found = np.asarray(found.get() if hasattr(found, "get") else found)[:CHECKED].reshape(wanted.shape)
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def finish(result):
    """Wait until a result is there."""
    if hasattr(result, "block_until_ready"):
        result.block_until_ready()
    cupy.cuda.runtime.deviceSynchronize()


def seconds(call):
    """The median time of a call, of some in flight at a time."""
    finish(call())
    calls, times = 1, []
    while True:
        begin = time.perf_counter()
        for _ in range(calls):
            result = call()
        finish(result)
        taken = time.perf_counter() - begin
        if taken < SECONDS and not times:
            calls = int(calls * min(1.2 * SECONDS / max(taken, 1e-6), 10.0)) + 1
            continue
        times.append(taken / calls)
        if len(times) == TURNS:
            return statistics.median(times)


def bytes_a_second():
    """The rate at which the GPU's memory is read and written by a copy of a gigabyte."""
    a = cupy.ones(2 ** 27)
    b = cupy.empty_like(a)
    return 2 * a.nbytes / seconds(lambda: cupy.copyto(b, a) or b)


def numbers_moved(robot, quantity):
    """How many numbers of a state are read and written at least."""
    n, nq = robot.n, robot.nq
    return {"inverse dynamics": nq + 3 * n, "forward dynamics": nq + 3 * n, "mass matrix": nq + n * n,
            "Jacobian": nq + 6 * n, f"{STEPS} steps": 5 * nq + 4 * n}[quantity]


def rows(case, batches, dtype, rate):
    """(batch, quantity, of each contestant states a second or why not, the limit)."""
    robot = sd.Robot.from_urdf(case.urdf, floating_base=case.floating)
    rng = np.random.default_rng(0)
    every = robot.random_configuration(max(batches), rng), *rng.uniform(-1.0, 1.0, (2, max(batches), robot.n))
    wanted = right(case, robot, every)
    for batch in batches:
        states, found = [a[:batch] for a in every], {}
        for name, contestant in CONTESTANTS.items():
            try:
                calls = contestant(case, robot, states, dtype)
            except ImportError as error:
                print(f"{name}: {error}")
                continue
            for quantity, call in calls.items():
                off = disagreement(call(), wanted[quantity])
                found[name, quantity] = batch / seconds(call) if off < TOLERANCE[dtype] else f"off by {off:.1g}"
        for quantity in QUANTITIES:
            limit = rate / (numbers_moved(robot, quantity) * np.dtype(dtype).itemsize)
            yield batch, quantity, {name: found.get((name, quantity)) for name in CONTESTANTS}, limit


def written(x):
    """Millions of states a second."""
    return "" if x is None else x if isinstance(x, str) else f"{x / 1e6:.3g}"


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", default=["Panda", "ANYmal", "ANYmal, floating"])
    parser.add_argument("--batches", nargs="+", type=int, default=BATCHES)
    parser.add_argument("--precision", choices=TOLERANCE, default="float64", help="one a run: JAX computes in one")
    given = parser.parse_args()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    rate = bytes_a_second()
    print(f"{properties['name'].decode()}, {rate / 1e12:.2f} TB/s copied; CuPy {cupy.__version__}, CUDA "
          f"{cupy.cuda.runtime.runtimeGetVersion()}; {machine.describe()}")
    print("| robot | precision | batch | quantity |", *(f"{name} |" for name in CONTESTANTS), "limit of memory |")
    print("|---" * (5 + len(CONTESTANTS)) + "|")
    os.environ["JAX_ENABLE_X64"] = str(given.precision == "float64")
    for name in given.robots:
        case = robots.real(name.partition(",")[0], floating="floating" in name)
        for batch, quantity, found, limit in rows(case, given.batches, given.precision, rate):
            print(f"| {name} | {given.precision} | {batch} | {quantity} |",
                  *(f"{written(x)} |" for x in (*found.values(), limit)), flush=True)


if __name__ == "__main__":
    main()
