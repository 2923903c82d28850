"""Calls every method that computes, of robots of every kind, and tells what had to be compiled for that.

tools/wheels.py runs it where a wheel is installed and nothing else, where it must be nothing:

    python installed_calls.py FOLDER RESULTS.npz

FOLDER has URDFs, of this repository. The results go to a file, by name, so that those of other processors, and of plain
Python, can be compared; what was compiled is printed as JSON."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
from numba.core import event

import screw_dynamics as sd
from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS

LEADS = (), (2, 5)                  # a state, and a batch of more than a register takes
MANY = 2000                         # states, enough for two threads
FORMS = "body", "spatial", "hybrid", "mixed"
# Methods of Robot that are not called here, and why.
LEFT_OUT = {
    "specialize": "compiles a robot's own kernels, by design", "export_c": "writes C", "plot": "needs Matplotlib",
    "from_mjcf": "needs MuJoCo", "from_urdf": "is how the robots are made", "to_urdf": "writes text",
    "total_force": "is called by those that take forces",
}
STATE = "q", "qd", "qdd", "qddd", "qdddd", "tau"


def hand(*joints):
    """A model with joints of these kinds, one after the other, and on the last body two fingers, one a mimic."""
    inertia = sd.inertia_matrix(1.0, (0.1, 0.0, 0.2), 0.1 * np.eye(3))
    builder = sd.ModelBuilder("base")
    for k, kind in enumerate(joints):
        builder.add_group_joint(kind, kind, f"body{k}", f"body{k - 1}" if k else "base", inertia=inertia)
    builder.add_screw("finger", "tip", f"body{k}", axis=(0, 1, 0), point=(0, 0, 0.3), mass=1.0, com=(0.2, 0, 0.3))
    builder.add_screw("other", "thumb", f"body{k}", axis=(0, 1, 0), point=(0, 0.1, 0.3), mass=1.0, com=(0.2, 0.1, 0.3),
                      mimic=sd.Mimic("finger", multiplier=-1.0))
    return builder.build()


def chain(joints):
    """A model as deep as that, for what is written by rows."""
    builder = sd.ModelBuilder("base")
    for k in range(joints):
        builder.add_screw(f"joint{k}", f"link{k}", f"link{k - 1}" if k else "base", axis=np.roll((1, 0, 0), k),
                          point=(0.05 * k, 0, 0), mass=1.0, com=(0.05 * k + 0.02, 0.01, 0))
    return builder.build()


def robots(folder):
    """Robots by name."""
    arm, gripper, dog = (folder / f"{name}.urdf" for name in ("spherical_arm", "gripper", "quadruped"))
    found = {"arm": sd.Robot.from_urdf(arm), "mimic": sd.Robot.from_urdf(gripper),
             "floating": sd.Robot.from_urdf(dog, floating_base=True),
             "floating mimic": sd.Robot(hand("free")), "groups": sd.Robot(hand("planar", "spherical")),
             "deep": sd.Robot(chain(20))}
    return found | {f"arm in {form} twists": sd.Robot.from_urdf(arm, representation=form) for form in FORMS} | {
        f"floating in {form} twists": sd.Robot.from_urdf(dog, floating_base=True, representation=form)
        for form in FORMS}


def results(robot, lead, floats=False):
    """(what was called, its result) of all methods; lead: the leading axes of the states, floats: on a free base."""
    rng = np.random.default_rng(1)
    given = {name: rng.uniform(-1.0, 1.0, (*lead, robot.n)) for name in STATE}
    q = given["q"] = robot.random_configuration(lead, rng)
    tip, load = robot.link_names[-1], {robot.link_names[-1]: np.arange(6.0)}
    times, motion = np.linspace(0.0, 0.1, 6), np.broadcast_to(robot.neutral(), (6, robot.nq))
    along = {"t": times, "q": motion, "qd": np.zeros((6, robot.n))}
    others = {
        "integrate": {"q": q, "v": given["qd"]},
        "interpolate": {"q0": q, "q1": robot.integrate(q, given["qd"]), "s": 0.3},
        "difference": {"q0": q, "q1": robot.integrate(q, given["qd"])},
        "distance": {"q0": q, "q1": robot.integrate(q, given["qd"])}, "external_torque": {"q": q, "external": load},
        "hybrid_dynamics": {**{name: given[name] for name in ("q", "qd", "qdd", "tau")},
                            "driven": [robot.joint_names[0]]},
        "inverse_kinematics": {"pose": robot.forward_kinematics(q, tip), "link": tip, "q0": q, "attempts": 1},
        "step": {"q": q, "qd": given["qd"], "effort": given["tau"], "dt": 1e-3},
        "rollout": {"q0": q, "qd0": given["qd"], "steps": 4}, "rollout_derivatives": {
            "q0": q, "qd0": given["qd"], "steps": 4}, "rollout_gradient": {
            "cost": cost, "q0": q, "qd0": given["qd"], "steps": 4},
        "energy_balance": along, "momentum_balance": along, "random_configuration": {"seed": 1}, "neutral": {},
        "with_payload": {"link": tip, "mass": 1.0}, "with_gravity": {"gravity": (0, 0, -1.6)}, "with_root_inertia": {},
        "with_armature": {"armature": {}}, "with_drives": {"drives": {}},
        "with_forces": {"forces": []}, "with_inertial_parameters": {"parameters": robot.inertial_parameters}}
    for name, method in inspect.getmembers(sd.Robot, inspect.isroutine):
        if name.startswith("_") or name in LEFT_OUT or name == "momentum_balance" and not floats:
            continue
        taken = inspect.signature(method).parameters
        arguments = others[name] if name in others else {
            **{key: given[key] for key in STATE if key in taken}, **({"link": tip} if "link" in taken else {})}
        variants = [{}, *({"representation": form} for form in FORMS[1:] if "representation" in taken),
                    *[{"external": load}] * ("external" in taken and name not in others),
                    *[{"friction": True, "limits": True, **({"dt": 1e-3} if name == "linearize" else {})}] * (
                        {"friction", "limits"} <= set(taken)),
                    *({"integrator": one} for one in integrators(name))]
        for variant in variants:
            yield " ".join([name, *map(str, variant.values())]), getattr(robot, name)(**arguments, **variant)


def integrators(name):
    """Those that a method takes, but for its default."""
    known = {"rollout": INTEGRATORS, "step": FIXED_STEPS, "linearize": (), "rollout_derivatives": ("rk4",),
             "rollout_gradient": ("rk4",)}
    return [one for one in known.get(name, ()) if one != "semi_implicit_euler"]


def cost(t, q, qd, tau):
    """Half the squares of all velocities, and its derivatives."""
    return 0.5 * (qd * qd).sum(), None, qd


def numbers(result):
    """All numbers of a result, in a row."""
    if isinstance(result, (np.ndarray, float, np.floating)):
        return np.ravel(result)
    if isinstance(result, (tuple, list)):
        return np.concatenate([np.empty(0), *map(numbers, result)])
    return numbers(tuple(vars(result).values())) if hasattr(result, "__dataclass_fields__") else np.empty(0)


def names_of(recorder):
    """The functions that were compiled while Numba's events were recorded."""
    return sorted({one.data["dispatcher"].py_func.__qualname__ for _, one in recorder.buffer if one.is_start})


def main():
    """Call everything; the results by name, and what was compiled."""
    folder, path = map(Path, sys.argv[1:3])
    wanted, found = sys.argv[3:], {}
    with event.install_recorder("numba:compile") as compiled:
        for kind, robot in robots(folder).items():
            if wanted and kind not in wanted:
                continue
            for lead in LEADS:
                for name, result in results(robot, lead, kind.startswith("floating")):
                    found[f"{kind}, {'batch' if lead else 'state'}: {name}"] = numbers(result)
            many = robot.random_configuration((MANY,), 2)
            found[f"{kind}, threads"] = robot.gravity_torque(many, threads=2).ravel()[:100]
    np.savez(path, **found)
    print(json.dumps({"package": sd.__file__, "calls": len(found), "compiled": names_of(compiled)}))


if __name__ == "__main__":
    main()
