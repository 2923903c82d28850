"""robot.plot shows the numbers it is given, within the limits of the model, and the energy of the motion."""
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import ROOT, URDF
from support.real_robots import real_robot

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra [plot]")
matplotlib.use("Agg")


@pytest.fixture
def arm():
    return sd.Robot.from_urdf(URDF / "spherical_arm.urdf")


@pytest.fixture
def figures():
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def curve(ax):
    """The last line that spans the axes' data: the motion in color lies on top."""
    return next(line for line in reversed(ax.get_lines()) if len(line.get_xdata()) > 2)


def test_every_panel_shows_its_joint_and_the_energy_is_that_of_the_robot(arm, figures):
    t, q, qd = arm.rollout([0.1, 0.2, 0.0], [1.0, 0.0, 0.0], steps=100, every=5)
    tau = arm.gravity_torque(q)
    *panels, energy = arm.plot(t, q, qd, tau).axes
    for joint in range(3):
        for ax, samples in zip(panels[3 * joint:3 * joint + 3], (q, qd, tau), strict=True):
            assert np.array_equal(curve(ax).get_xydata(), np.stack([t, samples[:, joint]], axis=1))
    assert [ax.texts[0].get_text() for ax in panels[::3]] == ["waist  [rad]", "lift  [rad]", "slide  [m]"]
    assert [ax.texts[0].get_text() for ax in panels[6:]] == ["slide  [m]", "[m/s]", "[N]"]
    potential = arm.potential_energy(q) - arm.potential_energy(q).min()
    shown = {line.get_label(): line.get_ydata() for line in energy.get_lines()}
    assert shown["kinetic"] == pytest.approx(arm.kinetic_energy(q, qd))
    assert shown["potential"] == pytest.approx(potential)
    assert np.ptp(shown["total"]) < 1e-2 * np.ptp(shown["potential"])      # a rollout without friction conserves it


@pytest.mark.slow       # kernels for batches of Lie-group joints
def test_turns_and_slides_of_joints_on_groups_have_a_panel_each(figures):
    builder, body = sd.ModelBuilder("world"), sd.inertia_matrix(1.0, np.zeros(3), np.eye(3))
    builder.add_group_joint("free", "base", "trunk", "world", inertia=body, limits={"x": sd.Limits(velocity=1.0)})
    builder.add_group_joint("planar", "drive", "cart", "trunk", inertia=body, limits=sd.Limits(effort=1.0))
    builder.add_joint("knee", "shin", "cart", [1, 0, 0, 0, 0, 0], inertia=body, limits=sd.Limits(-1.0, 1.0))
    robot, rng = sd.Robot(builder.build()), np.random.default_rng(2)
    t, q = np.linspace(0.0, 1.0, 4), robot.random_configuration((2, 4), 1)
    qd, tau = rng.standard_normal((2, 2, 4, robot.n))
    *panels, _ = robot.plot(t, q, qd, tau).axes
    assert [ax.texts[0].get_text() for ax in panels[::3]] == [
        "base  [-]", "base  [m]", "drive  [rad]", "drive  [m]", "knee  [rad]"]
    shown = [[range(3, 7), range(3), range(3)], [range(3), range(3, 6), range(3, 6)], [[9], [6], [6]],
             [[7, 8], [7, 8], [7, 8]], [[10], [9], [9]]]
    for k, ax in enumerate(panels):
        curves = [line for line in ax.get_lines() if len(line.get_xdata()) == 4][-len(shown[k // 3][k % 3]):]
        assert np.array_equal([line.get_ydata() for line in curves], (q, qd, tau)[k % 3][0].T[shown[k // 3][k % 3]])
    assert [text.get_text() for text in panels[0].get_legend().get_texts()] == list("xyzw")
    assert [len(ax.patches) for ax in panels] == [0] * 8 + [2] + [0] * 2 + [2] + [2] + [0] * 2


def test_what_is_beyond_a_limit_is_shaded_where_the_motion_comes_near(arm, figures):
    t = np.linspace(0.0, 1.0, 11)
    q = np.stack([0 * t, 1.1 * t, 0.1 * t], axis=1)         # lift ends at 1.2, slide at 0.6, waist nowhere
    *panels, _ = arm.plot(t, q).axes
    assert [len(ax.patches) for ax in panels] == [0, 1, 0]
    band, = panels[1].patches
    assert band.get_y() == 1.2 and band.get_y() + band.get_height() == pytest.approx(panels[1].get_ylim()[1])


def test_a_batch_is_drawn_with_its_first_motion_in_color(arm, figures):
    t = np.linspace(0.0, 1.0, 5)
    q = np.random.default_rng(1).normal(size=(4, 5, 5, 3))
    ax, *_ = arm.plot(t, q).axes
    motions = [line for line in ax.get_lines() if len(line.get_xdata()) == 5]
    assert len(motions) == 12 and len({line.get_color() for line in motions[:-1]}) == 1
    assert np.array_equal(motions[-1].get_ydata(), q[0, 0, :, 0])
    assert motions[-1].get_color() != motions[0].get_color()


def test_efforts_may_be_constant_or_one_for_each_interval(arm, figures):
    t, q = np.linspace(0.0, 1.0, 6), np.zeros((6, 3))
    ax = arm.plot(t, q, tau=[1.0, 2.0, 3.0]).axes[3]
    assert curve(ax).get_ydata().tolist() == [2.0] * 6
    ax = arm.plot(t, q, tau=np.arange(15.0).reshape(5, 3)).axes[1]
    assert curve(ax).get_ydata().tolist() == [0.0, 3.0, 6.0, 9.0, 12.0, 12.0]


@pytest.mark.slow
def test_a_humanoid_fits_and_a_file_is_written(tmp_path, figures):
    talos = real_robot("talos_data/robots/talos_full_v2.urdf")
    t, q = np.array([0.0, 1.0]), np.zeros((2, talos.n))
    figure = talos.plot(t, q, q, path=tmp_path / "talos.png")
    assert len(figure.axes) == 2 * talos.n + 1 and max(figure.get_size_inches()) < 16
    assert (tmp_path / "talos.png").read_bytes().startswith(b"\x89PNG") and not figures.get_fignums()


def test_a_motion_that_diverged_and_one_without_joints_are_drawn(arm, figures):
    """What is not finite is left out, and the rest is shown: limits and time, or an energy that does not change."""
    diverged = arm.plot([0.0, 1.0, 2.0], [[0.1, 0.2, 0.0], [0.5, 0.0, 0.1], [np.nan] * 3])
    rock = sd.Robot(sd.ModelBuilder("rock").build()).plot([0.0], np.zeros((1, 0)))
    for figure in (diverged, rock):
        figure.canvas.draw()
        assert all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all() for ax in figure.axes)
    assert [np.isfinite(curve(ax).get_ydata()).tolist() for ax in diverged.axes] == [[True, True, False]] * 4
    energy, = rock.axes
    assert [line.get_ydata().tolist() for line in energy.get_lines()] == [[0.0]]


@pytest.mark.parametrize("given, says", [
    ({"t": [0.0, 1.0], "q": np.zeros((3, 3))}, r"q has the shape \(3, 3\), not \(..., 2, 3\)"),
    ({"t": [0.0, 1.0], "q": np.zeros((2, 2))}, "q has shape"),
    ({"t": [[0.0, 1.0]], "q": np.zeros((2, 3))}, r"t has the shape \(1, 2\), not \(samples,\)"),
    ({"t": [0.0, 1.0, 2.0], "q": np.zeros((3, 3)), "tau": np.zeros((1, 3))}, r"tau has the shape \(1, 3\)"),
])
def test_what_does_not_fit_is_named(arm, given, says):
    with pytest.raises(ValueError, match=says):
        arm.plot(**given)


@pytest.mark.slow
def test_matplotlib_is_imported_when_a_picture_is_drawn_and_its_absence_said():
    program = """
import sys
import screw_dynamics as sd
assert not any(name.partition(".")[0] in ("matplotlib", "viser", "trimesh", "mcap") for name in sys.modules)
sys.modules["matplotlib"] = None
robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
try:
    robot.plot([0.0], [[0.0, 0.0, 0.0]])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "plot draws with matplotlib, which is not installed: pip install matplotlib\n", done.stderr
