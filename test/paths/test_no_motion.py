"""What has no motion, and what is no limit: errors that name the place, the limit and the value."""
import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PPoly

import screw_dynamics as sd
from screw_dynamics.planning.paths import Path, reachability, straight, time_optimal
from support.floating_robots import quadrotor
from support.planar_arm import M1, M2, urdf
from support.sliders import slider

LINE = [[0.0], [3.0]]
PATH = [[1.5, 0.0], [0.0, 0.0], [-1.5, 0.0]]


@pytest.fixture(scope="module")
def arm():
    return sd.Robot.from_urdf(urdf())


def refused(match, *arguments, **options):
    with pytest.raises(ValueError, match=match):
        time_optimal(*arguments, **options)


def test_gravity_that_exceeds_an_effort_is_found_with_its_place(arm):
    """Stretched out the shoulder bears (M1/2 + M2) g L1 + M2 g L2/2 = 15.2 N m; a little less is passed by momentum."""
    weight = (M1 / 2 + M2) * 9.81 * 0.5 + M2 * 9.81 * 0.2
    up = PATH[::-1]
    refused("no motion is within the limits from s = 0.*limits conflict: .*shoulder', 4.*; at s = 0.5 of 0 to 1, "
            f"between waypoints 1 and 2 gravity and dry friction alone take {weight:.4g} of the effort of 'shoulder', "
            "whose limit is 4$", arm, up, effort=[4.0, 50.0])
    slow, swung = (time_optimal(arm, up, effort=[share * weight, 50.0], velocity=np.inf) for share in (1.02, 0.98))
    assert swung.sd[np.searchsorted(swung.s, 0.5)] > 0.0 and slow.duration < swung.duration < np.inf


def test_dry_friction_counts():
    robot = slider(effort=4.0, friction=5.0)
    refused("start_speed 0 .* must be from 0.577.*; .* gravity and dry friction alone take 5 of the effort of 'slide', "
            "whose limit is 4", robot, LINE)
    assert np.isfinite(time_optimal(robot, LINE, friction=False).duration)


def test_friction_that_is_not_settled_is_told(monkeypatch):
    """Or efforts could be beyond their limits, and nobody would know."""
    robot = slider(effort=10.0, damping=3.0)
    assert np.isfinite(time_optimal(robot, LINE).duration)
    monkeypatch.setattr(reachability, "PASSES", 1)
    refused("viscous friction .* did not converge in 1 passes: the velocity at s = .* still changes by 0", robot, LINE)


def test_velocities_at_ends():
    refused("start_speed 2 at s = 0 of 0 to 1, .*: velocity of 'slide', 1.5, allows 0.5", slider(velocity=1.5), LINE,
            acceleration=2.0, start_speed=2.0)
    refused("start_speed 1e.200 at s = 0 of 0 to 1", slider(velocity=1.5), LINE, start_speed=1e200)
    refused("end_speed 2 at s = 1 of 0 to 1.*: velocity of 'slide', 1.5, allows 0.5", slider(velocity=1.5), LINE,
            acceleration=2.0, end_speed=2.0)
    # From 2 sqrt(a L) on the slide cannot stop: sqrt(2 2 3) / 3.
    refused("start_speed 1.2 at s = 0 .*: must be from 0 to 1.1547", slider(), LINE,
            acceleration=2.0, start_speed=1.2)
    refused("start_speed is 0.1, must be 0 if the jerk", slider(), LINE, jerk=1.0, start_speed=0.1)
    refused("end_speed is 0.1, must be 0 if the jerk", slider(), LINE, jerk=1.0, points=40, end_speed=0.1)


def test_what_is_no_limit(arm):
    for options, message in (
            ({"acceleration": 0.0}, "acceleration of 'shoulder' is 0, must be > 0"),
            ({"acceleration": {"elbow": -1.0}}, "acceleration of 'elbow' is -1, must be > 0"),
            ({"velocity": {"knee": 1.0}}, "velocity: joint 'knee' does not exist; the robot has shoulder, elbow"),
            ({"velocity": {"elbow": "fast"}}, "velocity of joint 'elbow' must be made of real numbers, not 'fast'"),
            ({"effort": {"elbow": [1.0, 2.0]}}, r"effort of joint 'elbow' \[1.0, 2.0\] must be one number"),
            ({"effort": [1.0, 2.0, 3.0]}, "effort .* must be one number, or one for each of 2"),
            ({"jerk": np.nan}, "jerk of 'shoulder' is nan"),
            ({"link_speed": {"hand": 1.0}}, "link 'hand' does not exist"),
            ({"link_speed": {"flange": (1.0, 0.0)}}, "link_speed of 'flange' is"),
            ({"link_speed": {"flange": (1.0,)}}, r"link_speed of 'flange' is \(1.0,\), must be > 0 .m/s. or a pair"),
            ({"link_speed": {"flange": (1.0, 2.0, 3.0)}}, "link_speed of 'flange' is .* or a pair"),
            ({"link_speed": 1.0}, "link_speed must be {link: m/s}"),
            ({"external": {"flange": np.zeros((3, 6))}}, r"wrench on link 'flange' has shape \(3, 6\), must be \(6,\)"),
            ({"effort_scaling": 0.0}, "effort_scaling 0.0 must be finite and > 0"),
            ({"effort_scaling": np.inf}, "effort_scaling inf must be finite and > 0"),
            ({"effort_scaling": "half"}, "effort_scaling 'half' must be finite and > 0"),
            ({"points": 1e20}, "points 1e.20 must be <= 17592186044416"),
            ({"points": 1}, "points 1 must be a whole number >= 2"),
            ({"start_speed": -1.0}, "start_speed -1.0 must be finite and >= 0"),
            ({"friction": 1}, "friction 1 must be True or False")):
        refused(message, arm, PATH, **options)
    refused("nothing limits the motion", slider(), LINE)
    refused("robot must be a Robot, not Scene", sd.Scene(arm), PATH, acceleration=1.0)


def test_joints_on_groups_have_no_limits_of_jerk():
    flyer, jerk = sd.Robot.from_urdf(quadrotor(), floating_base=True), np.full(6, np.inf)
    jerk[4] = 1.0                       # of one of its velocities
    refused("jerk: joint 'floating_base' is free, and only joints of one degree of freedom have limits of jerk", flyer,
            np.stack([flyer.neutral()] * 2), jerk=np.append(jerk, np.full(flyer.n - 6, np.inf)))


def test_what_nothing_limits_is_no_motion(arm):
    """The joint that moves has no limit, or nothing moves."""
    only = dict(velocity={"elbow": 1.0}, effort=np.inf)
    for options in (only, only | {"acceleration": {"elbow": 1.0}}, only | {"jerk": {"elbow": 1.0}}):
        refused("nothing limits the motion at s = .* of 0 to 1, between waypoints 0 and 1: no joint", arm,
                [[0.0, 0.0], [1.0, 0.0]], points=40, **options)
    assert np.isfinite(time_optimal(arm, [[0.0, 0.0], [1.0, 0.1]], **only).duration)
    rests = CubicSpline([0.0, 1.0], np.zeros((2, 2)))
    refused("nothing limits the motion at s = .* of 0 to 1", arm, rests, acceleration=1.0)
    back = [[0.0], [1.0], [0.0]]                    # where it turns round the slide stands for a moment
    assert time_optimal(slider(), back, jerk=5.0, points=40).duration > 2.0


def test_samples_that_no_memory_holds_are_refused():
    found = time_optimal(slider(), LINE, acceleration=2.0, points=40)
    for rate in (1e20, 1e300, np.finfo(float).max):
        with pytest.raises(ValueError, match="^samples at rate .*: .* must be "):
            found.sampled(rate)


def test_before_and_after_there_is_no_motion():
    """Where the robot would stand, and still be told the deceleration of the last interval."""
    found = time_optimal(slider(), LINE, acceleration=2.0, points=40)
    assert found.at(found.duration * (1.0 + 1e-12)).q == pytest.approx(3.0)
    for t in (-0.1, [0.5, 5.0]):
        with pytest.raises(ValueError, match=r"t must be from 0 to 2.44949 s, not (-0.1 ... -0.1|0.5 ... 5)"):
            found.at(t)


def test_corners_take_more_than_any_effort(arm):
    """A path of two straight lines; round, it is a motion, and without limits of accelerations it is one, too."""
    there, back = [[1.0], [-1.0]], [[0.0], [1.0]]
    corner = PPoly(np.array([there, back]), [0.0, 1.0, 2.0])
    refused("its direction jumps at s = 1 of 0 to 2; paths.straight rounds corners", slider(), corner, acceleration=1.0)
    refused("its direction jumps", slider(effort=3.0), corner)
    assert time_optimal(slider(velocity=2.0), corner).duration == pytest.approx(1.0, rel=0.01)
    assert time_optimal(slider(), straight(slider(), [[0.0], [1.0], [0.0]], 0.01), acceleration=1.0).duration > 3.9


def test_what_is_not_finite_has_no_motion(arm):
    refused("path: the effort of 'shoulder' is not finite at s = 0 of 0 to 1, between waypoints 0 and 1: check",
            arm, PATH, external={"flange": np.full(6, np.nan)})

    def hole(s, order=0):
        line = np.stack([s, s], axis=-1) if order == 0 else np.full((*np.shape(s), 2), 1.0 * (order == 1))
        return np.where((np.abs(s - 0.5) < 0.1)[..., None], np.nan, line)
    refused("path: the acceleration of 'shoulder' is not finite at s = 0.4", arm, Path(arm, hole, 0.0, 1.0),
            acceleration=1.0)


def test_limits_of_zero_in_a_urdf_are_none():
    with pytest.warns(sd.UrdfWarning):
        robot = sd.Robot.from_urdf(urdf().replace('effort="50"', 'effort="0"'))
    assert time_optimal(robot, PATH).problem.limits.effort[1] == np.inf


def test_elastic_drives_have_no_path_of_their_own():
    robot = slider().with_drives({"slide": sd.Drive(0.1, stiffness=100.0)})
    refused("the drive of joint 'slide' has a spring or a winding", robot, [[0.0, 0.0], [1.0, 1.0]], acceleration=1.0)


def test_a_path_beyond_limits_of_positions_is_told(arm):
    with pytest.warns(sd.LimitsWarning, match="the path leaves the position limits .* 'shoulder' reaches 3.5 rad"):
        time_optimal(arm, [[0.0, 0.0], [3.5, 0.0]], acceleration=1.0, effort=np.inf)


def test_a_path_to_a_limit_of_positions_is_within_it(recwarn):
    """Rounding takes every third one beyond."""
    rng, over = np.random.default_rng(0), []
    for _ in range(20):
        low, high = np.sort(rng.uniform(-3.0, 3.0, 2))
        robot = slider(effort=5.0, lower=low, upper=high)
        path = sd.paths.through(robot, np.array([low, *np.sort(rng.uniform(low, high, 2)), high])[:, None])
        q = path.q(np.linspace(0.0, 1.0, 201))
        over.append(max(q.max() - high, low - q.min()))
        if over[-1] > 0.0:
            time_optimal(robot, path, points=2)
    assert not recwarn.list and 0.0 < max(over) < 1e-12


def test_the_report_and_the_figure(arm, tmp_path):
    found = time_optimal(arm, PATH, acceleration=5.0)
    text = str(found)
    assert f"{found.duration:.4f} s along s = 0 to 1" in text and "  acceleration of 'shoulder'\n" in text
    assert repr(found).startswith("<TimeOptimal of ")
    figure = found.plot()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:3] == ["velocity / limit", "acceleration / limit", "effort / limit"]
    assert "along the path" in titles[3]
    assert [ax.get_legend() is not None for ax in figure.axes] == [True, False, False, True]        # one of joints
    found.plot(tmp_path / "motion.png")
    assert (tmp_path / "motion.png").stat().st_size > 10_000
