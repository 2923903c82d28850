"""Conversion of a URDF to a Model, step by step; notes of the steps become the model's warnings."""
from collections.abc import Mapping, Sequence

import numpy as np

from screw_dynamics.model.builder import ModelBuilder
from screw_dynamics.model.checks import SMALLEST_RADIUS
from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays
from screw_dynamics.utils.checks import flag

from .armature import with_armature
from .constraints import describe_constraints, in_use
from .description import Joint, Link, describe
from .error import Notes, UrdfError, issue, listed, quote
from .extension import CONSTRAINTS, own_elements
from .file import opened
from .lock import ON_GROUPS, Positions, locked
from .mimic import check_mimics
from .own_parts import applied, coordinates_of_drives, own_parts
from .own_parts import in_use as parts_in_use
from .schema import needed_part
from .source import Source, path_of, read_source
from .tree import Tree
from .xml import parse_xml

FREE = "free/"      # prefix of the added joints' and links' names for `apart`
WORLDS, FLOATING_BASE = ("world", "universe"), "floating_base"


def read_urdf(source: Source, base_link: str | None = None, tip_link: str | None = None,
              lock: Positions | None = None, floating_base: bool = False,
              xacro_args: Mapping[str, str] | None = None) -> Model:
    """Read the Model of a URDF.

    Parameters
    ----------
    source : str, path, bytes or file object
        Path, XML text, or open file. A path may begin with ~, or be a file:// or package://<package>/<path> URL.
        Packages are searched in AMENT_PREFIX_PATH and ROS_PACKAGE_PATH. A file ``*.xacro`` is expanded by the package
        xacro.
    base_link : str, optional
        Link that becomes the root; its frame is the world frame. Links above it are omitted. By default the root of
        the file.
    tip_link : str, optional
        Link at which the tree ends: only the path from the root to this link is kept, with all links fixed to the path.
        Branching joints are cut, with a warning. By default the whole tree is kept.
    lock : dict of str to float or array_like, optional
        Positions in rad or m, by joint name, at which joints are fixed, including the joints that mimic them. Their
        links are fixed to the parent links, also where ``tip_link`` cuts: a gripper's locked fingers keep their mass.
        A floating joint is locked at x y z and a quaternion x y z w, or at a pose (4, 4); a planar one at x, y and
        angle.
    floating_base : bool, optional
        Add a new root link and the free joint ``floating_base`` between it and the root or ``base_link``. q begins
        with its x y z and quaternion x y z w; see ModelBuilder.add_group_joint. The new link is called ``world``, or
        ``universe`` if a link of the robot is called ``world``: ``Model.root`` is its name.
    xacro_args : dict of str to str, optional
        Arguments of the xacro file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    UrdfError
        If dynamics would be undefined, or an argument is wrong. The message names the line, the element and the value.

    Warns
    -----
    UrdfWarning
        If other data, such as a limit, cannot be read or seem wrong. Also listed in ``Model.warnings``.

    Notes
    -----
    Bodies, and hence joint names, are in depth-first order from the root. The children of a link are in the order of
    their joints' names (as strings, Pinocchio's order too). The order of elements in the file has no influence.

    Joints of the types floating and planar become Lie-group joints anywhere in the tree: a floating one "free". The
    axis of a planar one is the normal of its plane.

    Loops closed by <loop_joint> and <distance>, and <gear>s, become Model.constraints; see docs/closed_loops.md.
    """
    source = opened(source, xacro_args)
    model = model_of(source, base_link, tip_link, lock, floating_base=floating_base)
    path = path_of(source)
    issue(model.warnings if path is None else [f"{path}: {text}" for text in model.warnings])
    return model


def model_of(source: Source, base_link: str | None = None, tip_link: str | None = None,
             lock: Positions | None = None, apart: Sequence[str] = (), floating_base: bool = False) -> Model:
    """Return the model of read_urdf, without issuing UrdfWarnings: its `warnings` have the texts.

    apart: joints, also fixed ones, whose links can separate. Each gets a free joint in series, in the child link's
    frame, with the coordinates FREE + <joint> + _rx, _ry, _rz, _x, _y and _z. The efforts that keep these at 0 are the
    wrench on the child link."""
    try:
        return _read(source, base_link, tip_link, lock or {}, apart, flag("floating_base", floating_base))
    except ValueError as error:
        path = path_of(source)
        known = isinstance(error, UrdfError)
        if known and path is None:
            raise
        raise UrdfError(f"{path}: {error}" if path is not None else str(error)) from None if known else error


def _read(source, base_link, tip_link, lock, apart, floating_base):
    notes = Notes()
    root = parse_xml(read_source(source))
    links, joints = describe(needed_part(root, notes), notes)
    own = own_elements(root, notes)
    joints = with_armature(joints, root, [x for x in own if x.tag == "armature"], coordinates_of_drives(own))
    parts = own_parts(own, links, joints)
    constraints = describe_constraints([x for x in own if x.tag in CONSTRAINTS], links, joints, notes)
    tree = Tree(links, locked(joints, lock, notes))
    branch = tree.select(base_link, tip_link)
    constraints = in_use(constraints, branch, joints, lock, notes)
    links = dict(tree.links)
    if floating_base:
        branch = _floating(branch)
        links[branch.root] = Link(branch.root, 0, 0.0, np.zeros(3), np.zeros((3, 3)))
    _check_apart(apart, branch)
    branch = branch._replace(joints=check_mimics(tree, branch.joints, notes))
    moving = {joint.name for joint in branch.joints if joint.kind != "fixed"}
    parts = parts_in_use(parts, moving, {branch.root, *(joint.child for joint in branch.joints)}, notes)
    return applied(_model(tree, links, branch, constraints, notes, apart), parts)


def _floating(branch):
    """Return the branch with a floating joint above its root."""
    links = {branch.root, *(joint.child for joint in branch.joints)}
    if any(joint.name == FLOATING_BASE and joint.kind != "fixed" for joint in branch.joints):
        raise UrdfError(f"floating_base: a joint is already called {quote(FLOATING_BASE)}")
    world = next((name for name in WORLDS if name not in links), None)
    if world is None:
        raise UrdfError(f"floating_base: links are already called {listed(WORLDS)}; base_link= selects the tree below "
                        "one")
    joint = Joint(FLOATING_BASE, 0, "floating", world, branch.root, np.eye(4))
    return branch._replace(root=world, joints=(joint, *branch.joints))


def _check_apart(apart, branch):
    names = [joint.name for joint in branch.joints]
    for name in apart:
        if name not in names:
            raise UrdfError(f"joint {quote(name)} does not exist in the part of the tree in use; its joints are "
                            f"{listed(names)}")


def _model(tree, links, branch, constraints, notes, apart):
    inertias = {name: _inertia(links[name]) for name in (branch.root, *(joint.child for joint in branch.joints))}
    builder = ModelBuilder(branch.root, inertias[branch.root], physical=False)      # impossible ones are noted already
    for joint in branch.joints:
        placement, inertia, child = joint.placement, inertias[joint.child], joint.child
        if joint.name in apart:
            inertia, child = None, FREE + joint.child
        if joint.kind == "fixed":
            builder.add_fixed(child, joint.parent, placement, inertia)
        elif joint.kind in ON_GROUPS:
            builder.add_group_joint(ON_GROUPS[joint.kind], joint.name, child, joint.parent, placement, inertia,
                                    frame=joint.frame)
        else:
            builder.add_joint(joint.name, child, joint.parent, joint.screw, placement, inertia, kind=joint.kind,
                              limits=joint.limits, damping=joint.damping, friction=joint.friction,
                              armature=joint.armature, mimic=joint.mimic)
        if joint.name in apart:
            builder.add_macro_joint("free", FREE + joint.name, joint.child, child, inertia=inertias[joint.child])
    for constraint in constraints:
        builder.add_constraint(constraint)
    if all(joint.kind == "fixed" for joint in branch.joints):
        notes.add("a robot without joints that move", branch.root)
    _note_idle_joints(branch, inertias, notes)
    for text in notes.texts():
        builder.warn(text)
    for joint in branch.cut:
        builder.warn(f"tip_link cuts off joint {quote(joint.name)} and the {tree.mass_below(joint):g} kg that it moves "
                     "(lock it, or make it fixed in the URDF, to keep them)")
    return builder.build()


def _inertia(link):
    return arrays.inertia_matrix(link.mass, link.com, link.rotational)


def _note_idle_joints(branch, inertias, notes):
    """Note the joints that move no inertia at q = 0: the mass matrix is singular, and forward dynamics fails."""
    leaders = {joint.mimic.joint for joint in branch.joints if joint.mimic}
    below = dict(inertias)        # link: composite inertia at q = 0
    for joint in reversed(branch.joints):
        M = below[joint.child]
        if joint.axis is not None and not (joint.mimic or joint.armature or joint.name in leaders):
            X = joint.screw
            if abs(X @ M @ X) <= M[5, 5] * SMALLEST_RADIUS**2:
                notes.add("joint moves no inertia, forward dynamics is singular", joint.name)
        to_child = arrays.Ad_matrix(arrays.inverse_pose(joint.placement))
        below[joint.parent] = below[joint.parent] + to_child.T @ M @ to_child
