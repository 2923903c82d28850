"""External wrenches in the recursions are the efforts J^T W, of one state and of batches."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.matrices import error
from support.random_trees import GROUPS, KINDS, model_of, random_tree


@pytest.mark.parametrize("of, mimics", [
    (KINDS, 0), pytest.param(KINDS, 2, marks=pytest.mark.slow),
    pytest.param((*GROUPS, "revolute"), 0, marks=pytest.mark.slow)])
def test_wrenches_on_links_are_efforts_through_their_jacobians(of, mimics):
    robot, rng = sd.Robot(model_of(random_tree(np.random.default_rng(3), 8, mimics, of=of))), np.random.default_rng(1)
    q = robot.random_configuration(2, 11) if robot.model.on_groups else rng.uniform(-2.0, 2.0, (11, robot.n))
    qd, x = rng.uniform(-1.0, 1.0, (2, 11, robot.n))
    links = [robot.link_names[k] for k in (0, 3, -2, -1)]                  # the root, and two that may be of one body
    external = {link: rng.normal(size=(11, 6)) for link in links}
    external[links[1]] = external[links[1]][0]                             # the same in all states
    load = sum(np.einsum("...ij,...i->...j", robot.jacobian(q, link), W) for link, W in external.items())
    tau = robot.inverse_dynamics(q, qd, x)
    cases = [(robot.external_torque, (q,), load), (robot.inverse_dynamics, (q, qd, x), tau - load),
             (robot.forward_dynamics, (q, qd, x), robot.forward_dynamics(q, qd, x + load))]
    for method, inputs, expected in cases:
        assert error(method(*inputs, external), expected) < 1e-12
        one = {link: W if W.ndim == 1 else W[4] for link, W in external.items()}
        assert error(method(*(x[4] for x in inputs), one), expected[4]) < 1e-12
        out = np.empty(expected.shape)
        assert method(*inputs, external, out=out) is out and error(out, expected) < 1e-12


def test_a_wrench_on_a_fixed_link_is_one_on_its_body_and_on_the_root_none():
    builder = sd.ModelBuilder("root")
    builder.add_screw("joint", "arm", "root", (0, 0, 1), mass=2.0, com=(0.5, 0.0, 0.0))
    pose = np.eye(4)
    pose[:3, 3] = 0.25, 0.0, 0.1
    builder.add_fixed("tool", "arm", pose)
    robot = sd.Robot(builder.build())
    W = {"root": np.full(6, 7.0), "arm": (0, 0, 1.0, 0, 0, 0), "tool": (0, 0, 0, 0, 4.0, 0)}
    assert robot.external_torque([0.3], W) == pytest.approx([1.0 + 0.25 * 4.0])
    assert (robot.external_torque([[0.3], [0.4]], {}) == 0).all()
    with pytest.raises(ValueError, match="hand"):
        robot.inverse_dynamics([0.3], [0.0], [0.0], {"hand": np.zeros(6)})
