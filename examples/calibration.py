"""Kinematic calibration of an arm by measured poses of its tip: python examples/calibration.py [urdf] [--link name]

The axes of the joints and the tip's frame of a simulated arm are off by some millimeters and milliradians. A tracker
measures the tip in random configurations, with noise. SciPy finds the errors from that, with the exact Jacobian of
screw_dynamics.analysis.calibration, and poses that were not measured show what is gained."""
import argparse

import numpy as np
from scipy.optimize import least_squares

import screw_dynamics as sd
from screw_dynamics.analysis.calibration import GeometricParameters

ERROR = 5e-3                        # of the geometry: rad and m, standard deviation
NOISE = np.repeat([2e-4, 1e-4], 3)  # of the tracker: rad, m
MEASURED, UNSEEN = 60, 300          # poses


def residuals(measured, poses):
    """The twists (..., 6) from measured to computed poses."""
    return sd.se3.log(np.linalg.inv(measured) @ poses)


def calibrate(parameters, q, measured):
    """The parameters that fit the measured poses best, and their standard deviations."""
    def weighted(p):
        return (residuals(measured, parameters.changed(p).forward_kinematics(q, parameters.link)) / NOISE).ravel()

    def jacobian(p):
        robot = parameters.changed(p)
        away = residuals(measured, robot.forward_kinematics(q, parameters.link))
        J = np.moveaxis(parameters.jacobian(p, q, robot), -2, -1)                       # (poses, size, 6)
        return np.moveaxis(sd.se3.dexp_inv(-away[:, None], J) / NOISE, -1, -2).reshape(-1, parameters.size)
    found = least_squares(weighted, np.zeros(parameters.size), jacobian, method="lm", xtol=1e-12)
    return found.x, np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))


def report(name, twists):
    """Print the root mean squares and the largest of residuals."""
    angle, distance = (np.linalg.norm(twists[:, part], axis=-1) for part in (slice(0, 3), slice(3, 6)))
    print(f"{name:34} {1e3 * np.sqrt(np.mean(distance**2)):8.4f} mm {1e3 * np.sqrt(np.mean(angle**2)):8.4f} mrad, "
          f"at most {1e3 * distance.max():8.4f} mm {1e3 * angle.max():8.4f} mrad")


def main(urdf, link, picture):
    """Make an arm with errors, measure it, calibrate it, and print and draw what comes of it."""
    rng, robot = np.random.default_rng(1), sd.Robot.from_urdf(urdf)
    link = link or robot.link_names[-1]
    parameters = GeometricParameters(robot, link)
    errors = ERROR * rng.standard_normal(parameters.size)
    real = parameters.changed(errors)
    q = robot.random_configuration(MEASURED + UNSEEN, rng)
    truth = real.forward_kinematics(q, link)
    measured = truth[:MEASURED] @ sd.se3.exp(NOISE * rng.standard_normal((MEASURED, 6)))
    found, deviations = calibrate(parameters, q[:MEASURED], measured)
    after = parameters.changed(found).forward_kinematics(q, link)
    before = robot.forward_kinematics(q, link)

    print(f"{parameters.size} parameters from {MEASURED} poses of {link}; root mean squares:")
    report("measured poses, before", residuals(measured, before[:MEASURED]))
    report("measured poses, after", residuals(measured, after[:MEASURED]))
    report("other poses without noise, before", residuals(truth[MEASURED:], before[MEASURED:]))
    report("other poses without noise, after", residuals(truth[MEASURED:], after[MEASURED:]))
    within = np.abs(found - errors) / deviations
    print(f"errors are found to {1e3 * np.abs(found - errors).max():.3f} mrad or mm; "
          f"{np.mean(within < 2.0):.0%} within two standard deviations")
    if picture:
        draw(picture, parameters, errors, found, deviations, residuals(truth, before), residuals(truth, after))
        print(f"picture: {picture}")


def draw(path, parameters, errors, found, deviations, before, after):
    """Draw the parameters, true and found, and how far the tip is from where it is computed to be."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5), layout="constrained", width_ratios=(2, 1))
    place = np.arange(parameters.size)
    left.bar(place, 1e3 * errors, color="#B8C4CE", label="true")
    left.errorbar(place, 1e3 * found, 2e3 * deviations, fmt=".", color="#D55E00", label="found, two deviations")
    left.set_xticks(place, parameters.names, rotation=90, fontsize=7)
    left.set_ylabel("error of the geometry, mrad and mm")
    left.legend()
    for name, twists, color in (("before", before, "#D55E00"), ("after", after, "#0072B2")):
        distance = np.sort(1e3 * np.linalg.norm(twists[:, 3:], axis=-1))
        right.semilogx(distance, np.linspace(0.0, 1.0, len(distance)), color=color, label=name)
    right.set_xlabel("error of the tip's position, mm")
    right.set_ylabel("share of poses")
    right.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", nargs="?", default="urdf/spherical_arm.urdf")
    parser.add_argument("--link", help="the link that is measured; by default the last")
    parser.add_argument("--picture", help="the file of a picture, png, svg or pdf; takes matplotlib")
    arguments = parser.parse_args()
    main(arguments.urdf, arguments.link, arguments.picture)
