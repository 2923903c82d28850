"""The bridge to JAX: values and derivatives of both modes, under jit, vmap and scan; and what it refuses."""

import numpy as np
import pytest

from support.bridged import NAMES, calls, derivatives
from support.linearized import ROBOTS, near, robot_called

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install screw_dynamics[jax]")
jnp = jax.numpy


@pytest.fixture(autouse=True)
def float64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def bridge(name):
    from screw_dynamics.backends.jax import JaxRobot  # takes JAX
    robot = robot_called(name)
    return robot, JaxRobot(robot)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("function", NAMES)
def test_values_and_derivatives_of_both_modes(name, function, rng):
    robot, bridged = bridge(name)
    ours, theirs, inputs = calls(robot, bridged, rng)[function]
    assert np.array_equal(jax.jit(theirs)(*inputs), ours(*inputs))
    expected, every = derivatives(ours, inputs), tuple(range(len(inputs)))
    for mode in (jax.jacfwd, jax.jacrev):
        for found, by in zip(jax.jit(mode(theirs, every))(*inputs), expected, strict=True):
            near(np.asarray(found), by, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name, function", [*(("fixed", each) for each in NAMES), ("mimics", "inverse_dynamics"),
                                            ("groups", "forward_kinematics"), ("groups", "step")])
def test_batches_by_leading_axes_and_by_vmap(name, function, rng):
    robot, bridged = bridge(name)
    ours, theirs, (q, *others) = calls(robot, bridged, rng, 3)[function]
    first = [x[0] for x in others]
    expected = ours(q, *first)
    near(np.asarray(theirs(q, *first)), expected, 1e-12)
    axes = (0, *(None for _ in others))
    near(np.asarray(jax.jit(jax.vmap(theirs, axes))(q, *first)), expected, 1e-12)
    for k, by in enumerate(jax.vmap(jax.jacrev(theirs), axes)(q, *first)):
        near(np.asarray(by), np.asarray(jax.jacfwd(theirs)(q[k], *first)), 1e-12)
    total = jax.grad(lambda *x: jnp.sum(theirs(*x)), tuple(range(len(axes))))(q, *first)
    assert [x.shape for x in total] == [x.shape for x in (q, *first)]


@pytest.mark.slow
def test_the_gradient_through_a_scan_is_the_adjoint_one(rng):
    robot, bridged = bridge("fixed")
    q, (qd, goal), tau = robot.random_configuration(seed=rng), rng.standard_normal((2, 6)), rng.standard_normal((20, 6))

    @jax.jit
    def cost(tau):
        end, _ = jax.lax.scan(lambda x, u: (bridged.step(*x, u, 1e-2), None), (jnp.asarray(q), jnp.asarray(qd)), tau)
        return 0.5 * jnp.sum((end[0] - goal)**2)
    rolled = robot.rollout_derivatives(q, qd, tau, 1e-2, 20)
    by_q = np.zeros((21, 6))
    by_q[-1] = rolled.q[-1] - goal
    near(np.asarray(jax.grad(cost)(tau)), rolled.adjoint(by_q).by_effort, 1e-12)


@pytest.mark.slow       # takes kernels of batches
def test_second_derivatives_of_inverse_dynamics(rng):
    robot, bridged = bridge("fixed")
    _, theirs, inputs = calls(robot, bridged, rng)["inverse_dynamics"]
    every = 0, 1, 2
    for found in (jax.jit(jax.jacfwd(jax.jacrev(theirs, every), every))(*inputs),
                  jax.jacrev(jax.jacfwd(theirs, every), every)(*inputs)):
        for k, row in enumerate(found):
            expected = derivatives(lambda *x, k=k: robot.inverse_dynamics_derivatives(*x)[k], inputs)
            for by, right in zip(row, expected, strict=True):
                near(np.asarray(by), right, 1e-9)


def test_what_it_refuses():
    _, bridged = bridge("fixed")
    x = np.zeros(6)
    with pytest.raises(ValueError, match=r"inverse_dynamics: an argument has shape \(3,\), but must end in 6"):
        bridged.inverse_dynamics(x, x[:3], x)
    with pytest.raises(NotImplementedError, match="forward_dynamics: the JAX bridge has no second"):
        jax.hessian(lambda q: jnp.sum(bridged.forward_dynamics(q, x, x)))(x)
    with pytest.raises(ValueError, match="link 'nose' does not exist"):
        bridged.forward_kinematics(x, "nose")
    with pytest.raises(ValueError, match="dt is a constant, and must be a number"):
        jax.grad(lambda dt: bridged.step(x, x, x, dt)[0].sum())(0.01)
    with pytest.raises(ValueError, match="integrator 'rk45' must be one of"):
        bridged.step(x, x, x, 1e-3, "rk45")
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ValueError, match="JAX computes in float32.*jax.config.update"):
        bridged.mass_matrix(x)
