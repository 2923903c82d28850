"""Kinematic tree of links and joints with topology checks, and selection of the part between base and tip link."""
from collections.abc import Mapping
from typing import NamedTuple

from .description import Joint, Link
from .error import UrdfError, fault, listed, quote


class Branch(NamedTuple):
    """The part of a tree used for a model: root link, joints in order (parents first), joints cut off."""

    root: str
    joints: tuple[Joint, ...]
    cut: tuple[Joint, ...]


class Tree:
    """The links and joints of a robot, by name, checked to be one tree from `root`.

    `above` is the joint above each link, `below` the joints below it, sorted by name."""

    def __init__(self, links: Mapping[str, Link], joints: Mapping[str, Joint]) -> None:
        self.links, self.joints = links, joints
        self.above: dict[str, Joint] = {}
        self.below: dict[str, list[Joint]] = {name: [] for name in links}
        # sorted by name: independent of the order of elements in the file
        for _, joint in sorted(joints.items()):
            self._connect(joint)
        self.root = self._single_root()
        self._check_reach()

    def select(self, base_link: str | None = None, tip_link: str | None = None) -> Branch:
        """Return the Branch from `base_link` (None: root) to `tip_link`, with links fixed to it (None: all below)."""
        root = self.root if base_link is None else self._known("base_link", base_link)
        order = self._depth_first(root)
        if tip_link is None:
            return Branch(root, tuple(order), ())
        path = self._path(root, self._known("tip_link", tip_link))
        kept, joints, cut = {root}, [], []
        for joint in order:
            if joint.parent in kept:
                if joint.kind == "fixed" or joint.name in path:
                    kept.add(joint.child)
                    joints.append(joint)
                else:
                    cut.append(joint)
        return Branch(root, tuple(joints), tuple(cut))

    def mass_below(self, joint: Joint) -> float:
        """Return the mass of the joint's child link and all links below, kg."""
        return self.links[joint.child].mass + sum(self.links[j.child].mass for j in self._depth_first(joint.child))

    def _connect(self, joint):
        where = f"joint {quote(joint.name)}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in self.links:
                raise fault(f"{where}: {role} link {quote(link)} does not exist", joint.line)
        if joint.parent == joint.child:
            raise fault(f"{where}: link {quote(joint.child)} is its parent and its child", joint.line)
        if joint.child in self.above:
            other = self.above[joint.child]
            raise fault(f"link {quote(joint.child)} has two parents: it is the child of joint {quote(other.name)} and "
                        f"of {where}", joint.line)
        self.above[joint.child] = joint
        self.below[joint.parent].append(joint)

    def _single_root(self):
        roots = [name for name in self.links if name not in self.above]
        if not roots:
            raise UrdfError(f"there is no root link, every link is a joint's child: a loop of {listed(self.links)}")
        if len(roots) > 1:
            raise UrdfError(f"there are {len(roots)} root links, which are no joint's child: {listed(roots)}")
        return roots[0]

    def _check_reach(self):
        lost = self.links.keys() - {self.root} - {joint.child for joint in self._depth_first(self.root)}
        if lost:
            raise UrdfError(f"links in a loop, not connected with the root {quote(self.root)}: {listed(lost)}")

    def _depth_first(self, root):
        order, stack = [], list(reversed(self.below[root]))
        while stack:
            joint = stack.pop()
            order.append(joint)
            stack.extend(reversed(self.below[joint.child]))
        return order

    def _known(self, argument, link):
        if link not in self.links:
            raise UrdfError(f"{argument}: link {quote(link)} does not exist; the links are {listed(self.links)}")
        return link

    def _path(self, base, tip):
        """Return the names of the joints from `base` to `tip`."""
        path, link = set(), tip
        while link != base:
            if link not in self.above:
                raise UrdfError(f"tip_link {quote(tip)} is not below base_link {quote(base)}")
            path.add(self.above[link].name)
            link = self.above[link].parent
        return path
