"""The answers of dynamics_node's services, as tables in the terminal."""

import numpy as np

from screw_dynamics_interfaces.srv import (
    ForwardDynamics,
    GetForwardKinematics,
    GetJacobian,
    GetJointScrews,
    GetMassMatrix,
    InverseDynamics,
)

ROWS = 14   # joints that are shown, at most
SERVICES = {
    "get_joint_screws": GetJointScrews,
    "inverse_dynamics": InverseDynamics,
    "forward_dynamics": ForwardDynamics,
    "get_mass_matrix": GetMassMatrix,
    "get_forward_kinematics": GetForwardKinematics,
    "get_jacobian": GetJacobian,
}


def show(graph, robot):
    """Call the main services for the robot as it floats, and show the answers. ValueError if they contradict."""
    joints, (q, qd) = list(robot.joint_names), graph.state()
    tip = farthest_link(robot)
    at = {"joint_names": joints, "position": q.tolist()}
    moving = at | {"velocity": qd.tolist()}
    answers = []

    def ask(service, say, **request):
        answer, milliseconds = graph.call(service, **request)
        answers.append((service, milliseconds, say(answer)))
        return answer

    screws = ask("get_joint_screws", lambda a: f"{len(a.joint_names)} screws in the frame of {a.frame_id}: see above",
                 joint_names=joints)
    inverse = ask("inverse_dynamics", lambda a: "the efforts for an acceleration of 1 of every joint: see above",
                  **moving, acceleration=[1.0] * robot.n)
    ask("forward_dynamics", lambda a: f"these efforts give an acceleration of 1, to {undone(a):.0e}",
        **moving, effort=inverse.effort)
    ask("get_mass_matrix", lambda a: f"{a.rows} x {a.cols}, eigenvalues {extremes(np.linalg.eigvalsh(matrix(a)))}",
        **at)
    ask("get_forward_kinematics", lambda a: f"{tip} is at {coordinates(a.pose.pose.position)} m", **at, link=tip)
    ask("get_jacobian", lambda a: f"{a.rows} x {a.cols} of {tip}, singular values "
        f"{extremes(np.linalg.svd(matrix(a), compute_uv=False))}", **at, link=tip)

    joint_table(joints, np.reshape(screws.screws, (-1, 6)), q, graph.gravity(), inverse)
    service_table(answers)


def undone(answer):
    """How far forward dynamics is from undoing inverse dynamics; ValueError when it is far."""
    error = np.abs(np.array(answer.acceleration) - 1.0).max()
    if not error < 1e-6:
        raise ValueError(f"forward_dynamics does not undo inverse_dynamics: accelerations {list(answer.acceleration)}")
    return error


def matrix(answer):
    """The matrix in an answer."""
    return np.reshape(answer.data, (answer.rows, answer.cols))


def coordinates(point):
    """(x, y, z) of a point."""
    return f"({point.x:.3f}, {point.y:.3f}, {point.z:.3f})"


def farthest_link(robot):
    """A link at the end of the longest chain of joints."""
    model = robot.model
    depth = {-1: 0}
    for body, parent in enumerate(model.parents):
        depth[body] = depth[parent] + 1
    frames = model.frames.items()
    return max(frames, key=lambda frame: (depth[frame[1][0]], np.linalg.norm(frame[1][1][:3, 3])))[0]


def extremes(values):
    """The smallest and the largest."""
    return f"{min(values):.3g} to {max(values):.3g}"


def joint_table(joints, screws, q, gravity, inverse):
    """Joints, their screws, and torques."""
    print(f"""
   {'':<22} {'screw at q = 0, in the root frame':^43} {'':>8} {'topic':>9} | InverseDynamics for q'' = 1
   {'joint':<22} {'e':^21} {'p x e + h e':^21} {'q':>8} {'~/gravity':>9} | {'inertia':>8} {'gravity':>8} {'sum':>8}""")
    for i, joint in enumerate(joints[:ROWS]):
        screw = " ".join(f"{x + 0.0:6.3f}" for x in screws[i].round(3))
        efforts = " ".join(f"{x[i]:8.3f}" for x in (inverse.inertial, inverse.gravity, inverse.effort))
        print(f"   {joint:<22.22} {screw}    {q[i]:8.3f} {gravity[joint]:9.3f} | {efforts}")
    if len(joints) > ROWS:
        print(f"   ... and {len(joints) - ROWS} more")
    print("   Positions in rad or m, efforts in N m or N. A screw (0; e) slides along e.\n")


def service_table(answers):
    """Services, the time they took, and what came back."""
    print(f"   {'service':<21} {'round trip':>10}   answer")
    for service, milliseconds, text in answers:
        print(f"   {service:<21} {milliseconds:7.2f} ms   {text}")
    print(flush=True)
