"""A program for an interpreter with Crocoddyl: reads a problem as JSON, and prints the time of solves as JSON. Run it
with -P: a file beside it has the name of Pinocchio."""
import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def reaching(given):
    """An arm reaches a point: the problem and its first state."""
    model = pin.buildModelFromXML(given["urdf"])
    state = crocoddyl.StateMultibody(model)
    actuation, n, w = crocoddyl.ActuationModelFull(state), model.nv, given["weights"]
    x0, frame = np.r_[given["start"], np.zeros(n)], model.getFrameId(given["tip"])

    def of_state(which):
        weights = np.repeat(which, n)
        return crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelWeightedQuad(weights.astype(float)),
                                           crocoddyl.ResidualModelState(state, x0, n))

    def place():
        return crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelFrameTranslation(
            state, frame, np.array(given["goal"]), n))
    running, final = crocoddyl.CostModelSum(state, n), crocoddyl.CostModelSum(state, n)
    running.addCost("near", place(), w["near"])
    running.addCost("posture", of_state([1, 0]), w["posture"])
    running.addCost("calm", of_state([0, 1]), w["calm"])
    running.addCost("effort", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, n)), w["effort"])
    final.addCost("end", place(), w["end"])
    final.addCost("rest", of_state([0, 1]), w["rest"])
    steps = [crocoddyl.IntegratedActionModelEuler(
        crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs), h)
        for costs, h in ((running, given["dt"]), (final, 0.0))]
    return crocoddyl.ShootingProblem(x0, [steps[0]] * given["steps"], steps[1]), x0


def standing(given):
    """A robot that floats, with feet that stay where they are, moves its base: the problem and its first state."""
    model = pin.buildModelFromXML(given["urdf"], pin.JointModelFreeFlyer())
    state = crocoddyl.StateMultibody(model)
    actuation, n, w = crocoddyl.ActuationModelFloatingBase(state), model.nv, given["weights"]
    q, data = pin.neutral(model), model.createData()
    q[:3] = given["base"]
    for joint, angle in given["joints"].items():
        q[model.joints[model.getJointId(joint)].idx_q] = angle
    x0 = np.r_[q, np.zeros(n)]
    pin.framesForwardKinematics(model, data, q)
    contacts = crocoddyl.ContactModelMultiple(state, actuation.nu)
    for foot in given["feet"]:
        frame = model.getFrameId(foot)
        kind, place = {"spherical": (crocoddyl.ContactModel3D, data.oMf[frame].translation),
                       "fixed": (crocoddyl.ContactModel6D, data.oMf[frame])}[given["contact"]]
        contacts.addContact(foot, kind(state, frame, place, pin.LOCAL, actuation.nu, np.zeros(2)))

    def of_state(which):
        weights = np.repeat(which, n)
        return crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelWeightedQuad(weights.astype(float)),
                                           crocoddyl.ResidualModelState(state, x0, actuation.nu))
    running, final = (crocoddyl.CostModelSum(state, actuation.nu) for _ in range(2))
    running.addCost("posture", of_state([1, 0]), w["posture"])
    running.addCost("calm", of_state([0, 1]), w["calm"])
    running.addCost("effort", crocoddyl.CostModelResidual(
        state, crocoddyl.ResidualModelControl(state, actuation.nu)), w["effort"])
    final.addCost("end", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelFrameTranslation(
        state, model.getFrameId(given["link"]), np.array(given["goal"]), actuation.nu)), w["end"])
    final.addCost("rest", of_state([0, 1]), w["rest"])
    steps = [crocoddyl.IntegratedActionModelEuler(crocoddyl.DifferentialActionModelContactFwdDynamics(
        state, actuation, contacts, costs, 0.0, True), h) for costs, h in ((running, given["dt"]), (final, 0.0))]
    return crocoddyl.ShootingProblem(x0, [steps[0]] * given["steps"], steps[1]), x0


def main():
    """Solve a problem some times, and print the least time."""
    given = json.load(sys.stdin)
    shooting, x0 = {"reaching": reaching, "standing": standing}[given["problem"]](given)
    shooting.nthreads = 1
    xs, us = [x0] * (given["steps"] + 1), shooting.quasiStatic([x0] * given["steps"])
    cpu, wall = [], []
    for _ in range(given["rounds"] + 1):
        solver = crocoddyl.SolverFDDP(shooting)
        solver.th_stop = given["tolerance"] * 0.1
        begin, started = time.process_time(), time.perf_counter()
        solver.solve(xs, us, 100, False, 1e-9)
        cpu.append(1e3 * (time.process_time() - begin))
        wall.append(1e3 * (time.perf_counter() - started))
    print(json.dumps(dict(cpu=min(cpu[1:]), wall=min(wall[1:]), iterations=solver.iter + 1, cost=solver.cost)))


if __name__ == "__main__":
    main()
