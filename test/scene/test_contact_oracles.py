"""Contacts against MuJoCo in its stiff limit: elliptic cones, and a time constant of two short steps."""
import mujoco
import numpy as np
import pytest

import screw_dynamics as sd

pytestmark = pytest.mark.slow
STEP = 2e-5
MODEL = """
<mujoco>
  <option timestep="{h}" cone="elliptic" impratio="100" iterations="200" tolerance="1e-14"/>
  <default><geom solref="{time} 1" solimp="0.99 0.999 0.0001" friction="0.5 0 0" condim="3"/></default>
  <worldbody>
    <geom type="plane" size="9 9 1"/>
    <body pos="0 0 {z}" euler="0 {tilt} 0"><freejoint/><geom type="{kind}" size="{size}" mass="1"/></body>
  </worldbody>
</mujoco>
"""


def of_mujoco(kind, size, z, tilt, v, time):
    """Position and quaternion w x y z after a time, of a body with a velocity v in the world's axes."""
    model = mujoco.MjModel.from_xml_string(MODEL.format(h=STEP, time=2.1 * STEP, z=z, tilt=tilt, kind=kind, size=size))
    data = mujoco.MjData(model)
    data.qvel[:3] = v
    mujoco.mj_step(model, data, round(time / STEP))
    return data.qpos


def test_a_pushed_box_and_a_falling_capsule_end_where_mujocos_do():
    C = np.eye(4)
    C[2, 3] = 0.1
    scene = sd.Scene(sd.Robot(sd.ModelBuilder("world").build()), ground=True, friction=0.5)
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, C)
    motion = scene.rollout(scene.neutral(), [0, 0, 0, 1.0, 0, 0], steps=300, integrator="rk4")
    expected = of_mujoco("box", "0.1 0.1 0.1", 0.1, 0, [1.0, 0.0, 0.0], 0.3)
    np.testing.assert_allclose(motion.q[-1, :2], expected[:2], atol=2e-4)

    c = np.sqrt(0.5)
    C[:3, :3], C[2, 3] = [[c, 0, c], [0, 1, 0], [-c, 0, c]], 0.3
    scene.remove("box")
    scene.add_capsule("capsule", 0.05, 0.2, 1.0, C)
    motion = scene.rollout(scene.neutral(), [0, 0, 0, 0.2 * c, 0, 0.2 * c], steps=350, integrator="rk4")
    expected = of_mujoco("capsule", "0.05 0.1", 0.3, 45, [0.2, 0.0, 0.0], 0.35)
    np.testing.assert_allclose(motion.q[-1, :3], expected[:3], atol=1.5e-3)
    np.testing.assert_allclose(motion.q[-1, 3:], expected[[4, 5, 6, 3]], atol=1e-3)
