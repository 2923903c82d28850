"""The contact problem of a scene that stands, by Pinocchio's ADMM solver and by ours."""
import time

import numpy as np

from screw_dynamics.constraints.cones.problems import solve_contacts

from .contact_scenes import DT, FRICTION

REPEATS = 200


def problem(case):
    """Its Delassus operator G (3 m, 3 m) and velocities c (3 m) without impulses, tangents first, at the state in which
    it stands."""
    scene, robot = case.scene, case.scene.robot
    motion = scene.rollout(case.q, None, case.servos, DT, 500, every=500, contacts=False)
    q, qd = motion.q[-1], motion.qd[-1]
    found = scene.contacts(q)
    rows, gaps = [], []
    for pair, p, n, gap in zip(found.pair, found.point, found.normal, found.gap, strict=True):
        if pair < 0 or gap > 1e-3:
            continue
        t = np.cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0))
        t /= np.linalg.norm(t)
        axes, J = np.array([t, np.cross(n, t), n]), np.zeros((3, robot.n))
        touching = scene.contact_model
        for sign, collider in ((1.0, touching.pairs[pair].first), (-1.0, touching.pairs[pair].second)):
            link = touching.colliders[collider].link
            of_link = robot.jacobian(q, link, "hybrid")
            arm = p - robot.forward_kinematics(q, link)[:3, 3]
            J += sign * axes @ (of_link[3:] + np.cross(of_link[:3].T, arm).T)
        rows.append(J)
        gaps += [0.0, 0.0, max(gap, 0.0) / DT]
    tau = np.zeros(robot.n)
    if case.servos is not None:
        case.servos(robot, 0.0, q, qd, tau)
    J = np.vstack(rows)
    free = qd + DT * robot.forward_dynamics(q, qd, tau)
    return J @ np.linalg.solve(robot.mass_matrix(q), J.T), J @ free + gaps


def admm(case):
    """Lines about time and accuracy of the solution; none where there is no Pinocchio with such a solver."""
    try:
        import pinocchio
        solver = pinocchio.ADMMConstraintSolver
    except (ImportError, AttributeError):
        return
    G, c = problem(case)
    m = len(c) // 3
    model = pinocchio.Model()
    contacts, datas = pinocchio.StdVec_ConstraintModel(), pinocchio.StdVec_ConstraintData()
    for _ in range(m):
        contact = pinocchio.PointContactConstraintModel(model, 0)
        contact.setFriction(FRICTION)
        contacts.append(pinocchio.ConstraintModel(contact))
        datas.append(contacts[-1].createData())
    settings = pinocchio.ADMMSolverSettings()
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-10
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 1e-12
    settings.max_iterations = 10000
    delassus, result, solve = pinocchio.DelassusOperatorDense(G), pinocchio.ADMMSolverResult(), solver(len(c))
    ours = solve_contacts(G, c, np.full(m, FRICTION))
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        solve.solve(delassus, c, contacts, datas, settings, result)
        times.append(time.perf_counter() - begin)
    x = np.array(result.retrieveConstraintImpulses())
    apart = np.abs(G @ (x - ours.x)).max()
    yield (f"{m} contacts by ADMM of Pinocchio {pinocchio.__version__}: {1e6 * np.median(times):.0f} us from Python, "
           f"{result.iterations} iterations; velocities differ from ours by {apart:.1e} m/s, ours in "
           f"{int(ours.sweeps)} sweeps from 0{'' if ours.converged else ', NOT converged'}")
