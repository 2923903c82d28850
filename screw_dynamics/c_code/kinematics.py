"""Exported functions of kinematics, one per requested link."""
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import FORWARD_KINEMATICS
from screw_dynamics.model.model import Model

from .functions import Array, Function, Options, configuration, velocities
from .tracing import columns_of

TWIST = {"body": "measured and resolved in the link's frame", "spatial": "in the reference frame",
         "hybrid": "velocity of the link's origin, resolved in the reference frame",
         "mixed": "angular rows in the link's frame, linear ones, of its origin, in the reference frame"}


def forward_kinematics(model: Model, options: Options) -> list[Function]:
    """Return the functions for the poses of links."""
    found = {}
    for link, _, reference in options.links:
        pose = Array("pose", (4, 4), "homogeneous matrix [R p; 0 1], m")
        found[link, reference] = _function(
            "forward_kinematics", link, "", reference, model, f"the pose of {link} in the frame of {reference}",
            (configuration(model),), pose, FORWARD_KINEMATICS, "body")
    return list(found.values())


def jacobian(model: Model, options: Options) -> list[Function]:
    """Return the functions for the Jacobians of links."""
    return _of_links("jacobian", "the Jacobian", JACOBIAN, (configuration(model),),
                     Array("J", (6, model.n), "J qd is its twist, angular part first,"), model, options)


def jacobian_derivative(model: Model, options: Options) -> list[Function]:
    """Return the functions for the time derivatives of the Jacobians of links."""
    return _of_links("jacobian_derivative", "the time derivative of the Jacobian", JACOBIAN_DERIVATIVE,
                     (configuration(model), velocities(model)),
                     Array("Jd", (6, model.n), "time derivative along qd; twists"), model, options)


def _of_links(quantity, what, entry, inputs, output, model, options):
    """Return a function per link. The description of its output ends with the resolution of the twists."""
    return [_function(quantity, link, representation, reference, model, f"{what} of {link} relative to {reference}",
                      inputs, output._replace(meaning=f"{output.meaning} {TWIST[representation]}"), entry,
                      representation) for link, representation, reference in options.links]


def _function(quantity, link, representation, reference, model, summary, inputs, output, entry, twist):
    """Return the function of one link. Its name includes a representation and a reference that are not the default."""
    name = "_".join([quantity, link, *([representation] * (representation not in ("", "body"))),
                     *(["in", reference] * (reference != model.root))])

    def way(robot, *x):
        return [robot.run(entry, *x, target=robot.target(link, twist, reference))]
    return Function(name, summary, inputs, (output,), {entry.name: way}, {entry.name: columns_of(entry)})
