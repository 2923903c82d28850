"""External wrenches in the recursions are the efforts J^T W, of one state and of batches."""
from collections import OrderedDict
from types import MappingProxyType

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
    q = robot.random_configuration(11, 2) if robot.model.on_groups else rng.uniform(-2.0, 2.0, (11, robot.n))
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


@pytest.mark.parametrize("of", [KINDS, pytest.param((*GROUPS, "revolute"), marks=pytest.mark.slow)])
def test_dictionaries_are_read_by_the_kernel_as_by_python(of):
    """Of arrays by name, of several links of a body too; anything else goes the longer way, with the same result."""
    class Name(str):
        pass

    robot, rng = sd.Robot(model_of(random_tree(np.random.default_rng(3), 8, of=of))), np.random.default_rng(2)
    q, (qd, x) = robot.random_configuration(seed=1), rng.uniform(-1.0, 1.0, (2, robot.n))
    external = {link: rng.normal(size=6) for link in robot.link_names}
    methods = {"external_torque": (q,), "inverse_dynamics": (q, qd, x), "forward_dynamics": (q, qd, x)}
    for method, inputs in methods.items():
        call, kernel = getattr(robot, method), robot._under[method]
        longer, out = call(*inputs, MappingProxyType(external)), np.empty(robot.n)
        assert kernel(*inputs, external, out, None) is out and error(out, longer) < 1e-14
        assert (kernel(*inputs, {}, out, None) == call(*inputs, MappingProxyType({}))).all()
        last = robot.link_names[-1]
        for other in ({last: external[last].tolist()}, {Name(last): external[last]}, OrderedDict(external),
                      {last: np.repeat(external[last], 2)[::2]}, {last: external[last].astype(np.float32)}):
            out[:] = 7.0
            assert kernel(*inputs, other, out, None) is None and (out == 7.0).all()
            plain = {str(link): np.array(W, float) for link, W in other.items()}
            assert error(call(*inputs, other), call(*inputs, plain)) < 1e-14
        on_bodies = np.zeros(6 * len(robot.model.parents))
        for bad in ({"hand": np.zeros(6)}, {last: np.zeros(5)}, {7: np.zeros(6)}, on_bodies):
            with pytest.raises(ValueError, match="hand|wrench|link"):
                call(*inputs, bad)


def test_batches_of_wrenches_are_read_as_rows():
    """Machine code takes contiguous arrays, of wrenches on bodies too; others have the same results."""
    robot, rng = sd.Robot(model_of(random_tree(np.random.default_rng(3), 8))), np.random.default_rng(2)
    q, qd, x = rng.uniform(-1.0, 1.0, (3, 21, robot.n))
    for W in (rng.normal(size=6), rng.normal(size=(21, 6))):
        external = {robot.link_names[-1]: W}
        given = *(q, qd, x), robot._wrenches_on_bodies(q, external)
        tau = robot.inverse_dynamics(q, qd, x, external)
        assert (robot._under["inverse_dynamics"](*given, None, 1) == tau).all()
        assert error(robot.inverse_dynamics(np.asfortranarray(q), qd, x, external), tau) < 1e-14
        assert error(robot.inverse_dynamics(q[None], qd, x, external)[0], tau) < 1e-14
    with pytest.raises(ValueError, match="do not broadcast"):
        robot.inverse_dynamics(q, qd, x, {robot.link_names[-1]: np.zeros((4, 6))})


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
