"""Agreement with Drake where its contacts are stiff: friction that stops, makes roll, and holds, and how a load is
shared. Needs pydrake, which no extra brings: pip install drake."""
import math

import numpy as np
import pytest

import screw_dynamics as sd

pytestmark = pytest.mark.slow
pydrake = pytest.importorskip("pydrake.all", reason="pydrake is not installed: pip install drake")
G, MU, DT = 9.81, 0.5, 1e-3
FEET = np.array([(0.3, 0.0, -0.1), (-0.2, 0.25, -0.1), (-0.1, -0.3, -0.1)])     # of a table, m
RADIUS = 0.02
STIFF, SUNK = 1e8, 2e-7     # N/m, m: how far a table sinks in


def in_drake(add, pose, velocity, steps, dt=DT, slope=0.0):
    """Positions and body-fixed twists (linear last) of a body above a half space, at each step, and the normal forces
    and points of contact at the end. add(plant, body, properties) gives it mass and shapes."""
    builder = pydrake.DiagramBuilder()
    plant, graph = pydrake.AddMultibodyPlantSceneGraph(builder, dt)
    plant.set_discrete_contact_approximation(pydrake.DiscreteContactApproximation.kTamsi)
    plant.mutable_gravity_field().set_gravity_vector(G * np.array([math.sin(slope), 0.0, -math.cos(slope)]))
    properties = pydrake.ProximityProperties()
    pydrake.AddContactMaterial(0.0, STIFF, pydrake.CoulombFriction(MU, MU), properties)
    plant.RegisterCollisionGeometry(
        plant.world_body(), pydrake.RigidTransform(), pydrake.HalfSpace(), "ground", properties)
    body = add(plant, properties)
    plant.Finalize()
    diagram = builder.Build()
    simulator = pydrake.Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
    plant.SetFreeBodyPose(context, body, pydrake.RigidTransform(pose - (0.0, 0.0, SUNK)))
    plant.SetFreeBodySpatialVelocity(context, body, pydrake.SpatialVelocity(np.zeros(3), np.array(velocity)))
    simulator.Initialize()
    p, v = [], []
    for k in range(steps + 1):
        simulator.AdvanceTo(k * dt)
        p.append(plant.EvalBodyPoseInWorld(context, body).translation())
        v.append(plant.EvalBodySpatialVelocityInWorld(context, body).translational())
    results = plant.get_contact_results_output_port().Eval(context)
    infos = [results.point_pair_contact_info(k) for k in range(results.num_point_pair_contacts())]
    forces = {tuple(np.round(info.contact_point()[:2], 2)): abs(info.contact_force()[2]) for info in infos}
    return np.array(p), np.array(v), forces


def solid(plant, mass, inertia):
    """A body with its center of mass at its origin."""
    moment = pydrake.SpatialInertia(mass, np.zeros(3), pydrake.UnitInertia(*(np.array(inertia) / mass)))
    return plant.AddRigidBody("body", moment)


def ball_in_drake(plant, properties):
    body = solid(plant, 1.2, [0.4 * 1.2 * 0.01] * 3)
    plant.RegisterCollisionGeometry(body, pydrake.RigidTransform(), pydrake.Sphere(0.1), "ball", properties)
    return body


def table_in_drake(plant, properties):
    body = solid(plant, 3.0, [0.1, 0.12, 0.15])
    for k, foot in enumerate(FEET):
        plant.RegisterCollisionGeometry(
            body, pydrake.RigidTransform(foot), pydrake.Sphere(RADIUS), f"foot {k}", properties)
    return body


def table():
    """On three feet, which share its weight in one way alone."""
    feet = "".join(f"<collision><origin xyz='{x} {y} {z}'/><geometry><sphere radius='{RADIUS}'/></geometry></collision>"
                   for x, y, z in FEET)
    return (f"<robot name='table'><link name='table'><inertial><mass value='3'/><inertia ixx='0.1' iyy='0.12' "
            f"izz='0.15' ixy='0' ixz='0' iyz='0'/></inertial>{feet}</link></robot>")


def shares(p):
    """Normal forces of the feet of a table at rest, whose center of mass is above p: by moments."""
    A = np.vstack((np.ones(3), (FEET[:, :2] - p).T))
    return np.linalg.solve(A, (3.0 * G, 0.0, 0.0))


def test_a_ball_that_is_thrown_along_the_ground_rolls_at_the_same_time():
    at = np.array([0.0, 0.0, 0.1])
    p, v, _ = in_drake(ball_in_drake, at, (2.0, 0.0, 0.0), 400)
    scene = sd.Scene(sd.Robot(sd.ModelBuilder("world").build()), ground=True, friction=MU)
    scene.add_sphere("ball", 0.1, mass=1.2)
    q = scene.neutral()
    q[:3] = at
    motion = scene.rollout(q, np.array([0, 0, 0, 2.0, 0, 0]), dt=DT, steps=400)
    assert v[-1, 0] == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-3)
    assert np.abs(motion.q[:, 0] - p[:, 0])[1:].max() < 5e-5


@pytest.mark.parametrize(("slope", "speed"), [(0.0, 1.0), (0.4, 0.0), (0.6, 0.0)], ids=["slides", "sticks", "starts"])
def test_a_table_slides_and_sticks_as_it_does(slope, speed):
    at, steps = np.array([0.0, 0.0, 0.1 + RADIUS]), 500
    p, _, forces = in_drake(table_in_drake, at, (speed, 0.0, 0.0), steps, slope=slope)
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    scene = sd.Scene(sd.Robot.from_urdf(table(), floating_base=True, gravity=gravity), ground=True, friction=MU)
    q = scene.neutral()
    q[:3] = at
    motion = scene.rollout(q, np.array([0, 0, 0, speed, 0, 0]), dt=DT, steps=steps)
    gone, theirs = motion.q[:, 0], p[:, 0]
    assert np.abs(gone - theirs)[1:].max() < 5e-5      # its first state is that after a step
    assert {0.0: 0.1 < gone[-1] < 0.103, 0.4: abs(gone[-1]) < 1e-12, 0.6: gone[-1] > 0.1}[slope]
    found = np.sort(motion.contacts.force[-1, :, 2])[-3:]
    np.testing.assert_allclose(found, np.sort(list(forces.values())), rtol=1e-6)
    if slope == 0.0:
        np.testing.assert_allclose(found, np.sort(shares(np.zeros(2))), rtol=1e-6)
