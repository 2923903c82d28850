"""How often, how exactly and how fast others find joint positions for poses: python -m benchmarks.inverse_kinematics,
from the root of the repository.

Poses are those of random configurations within the limits of arms of six to seven joints. Each contestant gets the same
URDF, made of the arm's screws, and a random start for each pose; it may start again as it does by itself, or ten times
where it does not. Its answer counts if our forward kinematics, which agrees with Pinocchio's, has it within 1e-6 m and
1e-6 rad of the pose, and its joints within their limits. One thread each, but TRAC-IK has two of its own. Times are of
processors, which other work on the machine changes less. A contestant that is slow gets fewer poses, the first ones."""
import argparse
import importlib
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import screw_dynamics as sd

from . import machine, robots
from .contestants import OURS, Cannot, install

TOLERANCE = 1e-6            # m, rad
SLACK = 1e-6                # rad, by which a limit may be exceeded, as solvers of quadratic programs do
STARTS, ITERATIONS = 10, 100        # of those that do not start again by themselves
KUKA = "LBR iiwa 14"
# Robot: file of example-robot-data, root link and end link of the arm.
ARMS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "base_link", "tool0"),
    "Panda": ("panda_description/urdf/panda.urdf", "panda_link0", "panda_link8"),
    KUKA: None,
    "Talos, left arm": ("talos_data/robots/talos_reduced.urdf", "torso_2_link", "gripper_left_base_link"),
}


# ------------------------------------------------------------------------------------------------- arms
def arm(name):
    """The Robot of an arm, and its end link."""
    if name == KUKA:
        return sd.Robot(kuka()), "link 7"
    path, root, tip = ARMS[name]
    file = next(f for f in robots.files("example-robot-data") if str(f).endswith(robots.FOLDER + path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)
        return sd.Robot.from_urdf(Path(file.locate()), root, tip), tip


def kuka():
    """The arm of a KUKA LBR iiwa 14 R820, by the lengths and limits of its data sheet."""
    builder, height = sd.ModelBuilder("base"), (0.0, 0.36, 0.36, 0.78, 0.78, 1.18, 1.18)
    limits = np.radians((170, 120, 170, 120, 170, 120, 175))
    for k in range(7):
        axis = (0, 0, 1) if k % 2 == 0 else (0, -1, 0) if k == 3 else (0, 1, 0)
        pose = np.eye(4)
        pose[2, 3] = height[k] if k < 6 else 1.306
        builder.add_screw(f"joint {k + 1}", f"link {k + 1}", "base" if k == 0 else f"link {k}", axis,
                          (0.0, 0.0, height[k]), pose=pose, limits=sd.Limits(-limits[k], limits[k]))
    return builder.build()


def urdf_of(robot, tip):
    """The arm as a URDF: turns about fixed axes, no shapes, and bodies of 1 kg, which some libraries require."""
    model, inertial = robot.model, robots.NOTHING.replace('mass value="0"', 'mass value="1"')
    for axis in "xyz":
        inertial = inertial.replace(f'i{axis}{axis}="0"', f'i{axis}{axis}="0.01"')
    text, parent = '<robot name="arm"><link name="base"/>', "base"
    for k, (B, X) in enumerate(zip(model.relative_poses, model.screws_body, strict=True)):
        text += joint("revolute", f"joint_{k}", parent, f"link_{k}", B, inertial,
                      f'<axis xyz="{numbers(X[:3])}"/><limit lower="{model.lower[k]:.17g}" '
                      f'upper="{model.upper[k]:.17g}" effort="100" velocity="100"/>')
        parent = f"link_{k}"
    return text + joint("fixed", "flange", parent, "tip", model.frames[tip][1], "", "") + "</robot>"


def joint(kind, name, parent, child, pose, inertial, rest):
    """A joint of a URDF, and the link that it moves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)                # of angles of which many are right
        rpy = Rotation.from_matrix(pose[:3, :3]).as_euler("xyz")
    return (f'<link name="{child}">{inertial}</link><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{numbers(pose[:3, 3])}" rpy="{numbers(rpy)}"/>{rest}</joint>')


def numbers(x):
    """Numbers of a URDF."""
    return " ".join(f"{number:.17g}" for number in x)


# ------------------------------------------------------------------------------------------------- contestants
def ours(robot, urdf):
    """Robot.inverse_kinematics, one pose."""
    return lambda pose, start, rng: robot.inverse_kinematics(pose, "tip", start).q


def toolbox(robot, urdf):
    """The Robotics Toolbox for Python's ik_LM, in C++, which starts again up to a hundred times."""
    rtb = importlib.import_module("roboticstoolbox")
    model, chain = robot.model, rtb.ETS()
    for B, X, lower, upper in zip(model.relative_poses, model.screws_body, model.lower, model.upper, strict=True):
        to_axis = np.eye(4)
        to_axis[:3, :3] = Rotation.align_vectors(X[:3][None], [[0.0, 0.0, 1.0]])[0].as_matrix()
        chain = chain * rtb.ET.SE3(B @ to_axis) * rtb.ET.Rz(qlim=[lower, upper]) * rtb.ET.SE3(to_axis.T)
    chain = chain * rtb.ET.SE3(model.frames["tip"][1])
    return lambda pose, start, rng: chain.ik_LM(pose, start, tol=0.5 * TOLERANCE**2).q


def trac_ik(timeout):
    """TRAC-IK through pytracik, which starts again until its time is over."""
    def contestant(robot, urdf):
        native = importlib.import_module("pytracik")
        solver = native.TRAC_IK("base", "tip", urdf, timeout, 0.5 * TOLERANCE, native.SolveType.Speed)

        def solve(pose, start, rng):
            x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
            found = native.ik(solver, start, *pose[:3, 3], x, y, z, w)
            return np.array(found[1:]) if found[0] >= 0 else start
        return solve
    return contestant


def again(robot, iterate):
    """A contestant that starts again: iterate(pose, start) returns joint positions, and whether they are a solution."""
    def solve(pose, start, rng):
        for _ in range(STARTS):
            q, done = iterate(pose, start)
            if done:
                break
            start = rng.uniform(robot.model.lower, robot.model.upper)
        return q
    return solve


def pink(robot, urdf):
    """pink, whose steps are quadratic programs of daqp, on Pinocchio."""
    pin, pink = importlib.import_module("pinocchio"), importlib.import_module("pink")
    importlib.import_module("daqp")
    limits_of = importlib.import_module("pink.limits").ConfigurationLimit
    model = pin.buildModelFromXML(urdf)
    limits = (limits_of(model, config_limit_gain=1.0),)
    task = pink.tasks.FrameTask("tip", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)

    def iterate(pose, start):
        configuration = pink.Configuration(model, model.createData(), start)
        task.set_target(pin.SE3(pose[:3, :3], pose[:3, 3]))
        for _ in range(ITERATIONS):
            error = task.compute_error(configuration)
            if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) < 0.9 * TOLERANCE:
                return configuration.q, True
            step = pink.solve_ik(configuration, [task], 1.0, "daqp", limits=limits, safety_break=False)
            configuration.integrate_inplace(step, 1.0)
        return configuration.q, False
    return again(robot, iterate)


def mink(robot, urdf):
    """mink, whose steps are quadratic programs of daqp, on MuJoCo."""
    mujoco, mink = importlib.import_module("mujoco"), importlib.import_module("mink")
    importlib.import_module("daqp")
    model = mujoco.MjModel.from_xml_string(urdf.replace(
        "</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>'))
    limits = [mink.ConfigurationLimit(model, gain=1.0)]
    task = mink.FrameTask("tip", "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
    configuration = mink.Configuration(model)

    def iterate(pose, start):
        configuration.update(start)
        task.set_target(mink.SE3.from_matrix(pose))
        for _ in range(ITERATIONS):
            error = task.compute_error(configuration)
            if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) < 0.9 * TOLERANCE:
                return configuration.q.copy(), True
            step = mink.solve_ik(configuration, [task], 1.0, "daqp", limits=limits)
            configuration.integrate_inplace(step, 1.0)
        return configuration.q.copy(), False
    return again(robot, iterate)


CONTESTANTS: dict[str, tuple[str, Callable]] = {
    "one pose": (OURS, ours), "ik_LM": ("roboticstoolbox-python", toolbox),
    "5 ms": ("pytracik", trac_ik(0.005)), "50 ms": ("pytracik", trac_ik(0.05)),
    "pink": ("pin-pink", pink), "mink": ("mink", mink)}


# ------------------------------------------------------------------------------------------------- measurements
def judged(robot, q, pose):
    """Which answers count (N,), and their errors, m and rad, of those that do: the medians."""
    C = robot.forward_kinematics(q, "tip")
    distance = np.linalg.norm(C[:, :3, 3] - pose[:, :3, 3], axis=-1)
    turned = np.swapaxes(pose[:, :3, :3], -1, -2) @ C[:, :3, :3]
    angle = np.array([np.linalg.norm(sd.so3.log(R)) for R in turned])
    inside = ((q >= robot.model.lower - SLACK) & (q <= robot.model.upper + SLACK)).all(axis=-1)
    good = inside & (distance <= TOLERANCE) & (angle <= TOLERANCE)
    return good, *(np.median(x[good]) if good.any() else np.nan for x in (distance, angle))


def one_by_one(solve, pose, starts, seconds):
    """Answers for poses until the time is over, and the mean seconds of one."""
    rng, answers, end, begun = np.random.default_rng(2), [], time.monotonic() + seconds, time.process_time()
    for C, start in zip(pose, starts, strict=True):
        answers.append(solve(C, start, rng))
        if time.monotonic() > end:
            break
    return np.array(answers), (time.process_time() - begun) / len(answers)


def measure(name, count, seconds):
    """Rows of one arm: contestant, number of poses, which were found, median errors, mean seconds of a pose."""
    original, tip = arm(name)
    urdf = urdf_of(original, tip)
    robot = sd.Robot.from_urdf(urdf)
    q = robot.random_configuration(count, 0)
    pose, starts = robot.forward_kinematics(q, "tip"), robot.random_configuration(count, 1)
    assert np.abs(original.forward_kinematics(q, tip) - pose).max() < 1e-12
    answers, times = [], []
    for _ in range(4):                                              # the first makes what is kept
        begun = time.process_time()
        answers.append(robot.inverse_kinematics(pose, "tip", starts, threads=1).q)
        times.append((time.process_time() - begun) / count)
    yield f"{OURS} {version(OURS)}, batch", count, *judged(robot, answers[-1], pose), min(times)
    for variant, (package, contestant) in CONTESTANTS.items():
        try:
            solve, label = contestant(robot, urdf), f"{package} {version(package)}, {variant}"
        except ImportError:                                         # PackageNotFoundError too
            continue
        solve(pose[0], starts[0], np.random.default_rng(0))
        found, spent = one_by_one(solve, pose, starts, seconds)
        yield label, len(found), *judged(robot, found, pose[:len(found)]), spent


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inverse_kinematics", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200 poses: to see that it works")
    parser.add_argument("--seconds", type=float, default=30.0,
                        help="of each contestant with each arm at most, %(default)g")
    parser.add_argument("--no-install", action="store_true", help="only what is installed already")
    parser.add_argument("--robots", nargs="+", choices=ARMS, default=list(ARMS), help="only these arms")
    options = parser.parse_args()
    count, seconds = (200, 2.0) if options.quick else (10_000, options.seconds)
    for package in dict.fromkeys(("daqp", *(package for package, _ in CONTESTANTS.values()))):
        try:
            install(package, package != OURS and not options.no_install)
        except Cannot as reason:
            print(f"==> {package} is left out: {reason}")
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()))
    print(f"\n{'':42}{'poses':>7}{'found':>10}{'median m':>11}{'rad':>10}{'us a pose':>12}")
    for name in options.robots:
        print(name)
        for label, poses, good, distance, angle, spent in measure(name, count, seconds):
            print(f"  {label:40}{poses:7}{100.0 * np.mean(good):9.2f}%{distance:11.1e}{angle:10.1e}{1e6 * spent:12.1f}",
                  flush=True)


if __name__ == "__main__":
    main()
