"""Self-collision pairs: shapes of a robot that may touch each other. Omitted are pairs connected by a joint, and pairs
disabled by an SRDF, by the user or by samples of configurations."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.description.urdf.source import Source
from screw_dynamics.description.urdf.srdf import Disabled, ordered, read_srdf
from screw_dynamics.model import configuration_space
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks

ALWAYS = 0.95       # of the samples: links that touch in more are meant to touch, as in MoveIt's setup assistant
AT_ONCE = 500       # samples in one call of `gaps`

Pair = tuple[int, int]
# gaps(q, pairs): the gap in m (k, len(pairs)), negative if penetrating, of pairs of shapes at configurations q (k, nq).
Gaps = Callable[[np.ndarray, Sequence[Pair]], np.ndarray]


class SelfCollision(NamedTuple):
    """Enabled pairs (i, j), i < j, of shapes, and the reasons for omitted ones: {(link, link): reason}."""

    pairs: tuple[Pair, ...]
    left_out: Mapping[tuple[str, str], str]


def self_collision(model: Model, shapes: Sequence[CollisionShape], gaps: Gaps | None = None, *,
                   srdf: Source | Mapping[str, Source] | None = None, prefixes: Iterable[str] = ("",),
                   disable: Iterable[tuple[str, str]] = (), enable: Iterable[tuple[str, str]] = (),
                   groups: Iterable[Iterable[str]] = (), samples: int = 1000, seed: int = 0) -> SelfCollision:
    """Return the pairs of a robot's shapes that may touch.

    Omitted are pairs of one body, and pairs in disable [(link, link)]. Pairs in enable [(link, link)] are exempt from
    the following rules. Omitted are pairs of two bodies connected by a joint (except a free joint); of two links in one
    of the `groups`, such as the links of a hand; and pairs that srdf disables. prefixes: of the names of several robots
    in one model; joints between different robots do not count, and srdf is {prefix: SRDF}, whose links have no prefix.

    Without an SRDF of its robot, if `gaps` is given, pairs of links are also omitted that touch in the neutral
    configuration, in none of `samples` configurations within limits, or in ALWAYS of them. Samples ignore loops. The
    same seed gives the same pairs. Raises ValueError naming an unknown link."""
    body_of = {link: body for link, (body, _) in model.frames.items()}
    for shape in shapes:
        checks.known_link(shape.link, body_of)
    prefixes = sorted(prefixes, key=len, reverse=True)

    def robot_of(link):
        return next((prefix for prefix in prefixes if link.startswith(prefix)), "")
    disabled = {prefix: _with_prefix(prefix, read_srdf(source, [link[len(prefix):] for link in body_of
                                                                if robot_of(link) == prefix]))
                for prefix, source in _sources(srdf, prefixes)}
    without, kept = _named_pairs("disable", disable, body_of), _named_pairs("enable", enable, body_of)
    together = [frozenset(checks.known_link(link, body_of) for link in group) for group in _lists(groups)]
    joined = _joined(model, {body_of[shape.link] for shape in shapes})

    def reason(a, b):
        i, j = body_of[a], body_of[b]
        if i == j:
            return "one body"
        if ordered(a, b) in without:
            return "disabled"
        if ordered(a, b) in kept:
            return ""
        if (min(i, j), max(i, j)) in joined and robot_of(a) == robot_of(b):
            return "joined by a joint"
        if any(a in group and b in group for group in together):
            return "one group"
        return "SRDF" if robot_of(a) == robot_of(b) and disabled.get(robot_of(a), Disabled()).holds(a, b) else ""
    left_out = {pair: why for pair in combinations(sorted({shape.link for shape in shapes}), 2)
                if (why := reason(*pair))}
    pairs = [(i, j) for i, j in combinations(range(len(shapes)), 2) if shapes[i].link != shapes[j].link
             and ordered(shapes[i].link, shapes[j].link) not in left_out]
    if gaps is not None:
        of_links = [ordered(shapes[i].link, shapes[j].link) for i, j in pairs]
        sampled = [k for k, (a, b) in enumerate(of_links) if (a, b) not in kept
                   and not (robot_of(a) == robot_of(b) and robot_of(a) in disabled)]
        left_out |= _by_samples(model, gaps, [pairs[k] for k in sampled], [of_links[k] for k in sampled],
                                checks.count("samples", samples, 1), checks.whole("seed", seed, 0))
        pairs = [pair for pair, links in zip(pairs, of_links, strict=True) if links not in left_out]
    return SelfCollision(tuple(pairs), left_out)


def _sources(srdf, prefixes):
    """Return (prefix, SRDF) of each SRDF."""
    if srdf is None:
        return []
    given = srdf if isinstance(srdf, Mapping) else {"": srdf}
    return [(checks.one_of("srdf: prefix", prefix, prefixes), source) for prefix, source in given.items()]


def _with_prefix(prefix, found):
    """Return the disabled pairs of an SRDF, with a prefix on all names."""
    pairs, enabled = (frozenset((prefix + a, prefix + b) for a, b in which) for which in (found.pairs, found.enabled))
    return Disabled(pairs, frozenset(prefix + link for link in found.links), enabled)


def _by_samples(model, gaps, pairs, of_links, samples, seed):
    """Return {(link, link): reason} of the links that touch in the neutral configuration, or in none or at least ALWAYS
    of the samples."""
    if not pairs:
        return {}
    names = list(dict.fromkeys(of_links))
    group = np.array([names.index(links) for links in of_links])
    at_neutral = _touching(gaps, configuration_space.neutral(model)[None], pairs, group, len(names))[0]
    q = configuration_space.random(model, np.random.default_rng(seed), (samples,))
    often = sum(_touching(gaps, q[k:k + AT_ONCE], pairs, group, len(names)).sum(axis=0)
                for k in range(0, samples, AT_ONCE))
    found = {}
    for links, neutral, count in zip(names, at_neutral, often, strict=True):
        if neutral:
            found[links] = "touch in the neutral configuration"
        elif count == 0:
            found[links] = f"touch in none of {samples} configurations"
        elif count >= ALWAYS * samples:
            found[links] = f"touch in {count} of {samples} configurations"
    return found


def _touching(gaps, q, pairs, group, count):
    """Return the mask (k, count) of the pairs of links with touching shapes."""
    found = np.asarray(gaps(q, pairs), dtype=float)
    if found.shape != (len(q), len(pairs)) or np.isnan(found).any():
        raise ValueError(f"gaps of {len(pairs)} pairs at {len(q)} configurations must be numbers of shape "
                         f"{(len(q), len(pairs))}, not {checks.described(found)}")
    touch = np.zeros((len(q), count), dtype=bool)
    for k, each in enumerate(group):
        touch[:, each] |= found[:, k] <= 0.0
    return touch


def _joined(model, with_shapes):
    """Return bodies (i, j), i < j, -1 for the root, connected by one joint. Intermediate bodies without shapes and
    inertia, of a joint of several degrees of freedom, belong to the joint."""
    found = set()
    for body in range(len(model.parents)):
        parent, kinds = int(model.parents[body]), {model.kind_of(model.body_joints[body])}
        while parent >= 0 and parent not in with_shapes and not model.inertias[parent].any():
            kinds.add(model.kind_of(model.body_joints[parent]))
            parent = int(model.parents[parent])
        if "free" not in kinds:
            found.add((parent, body))
    return found


def _lists(groups):
    if isinstance(groups, (str, Mapping)):
        raise ValueError(f"groups must be lists of links, not {checks.described(groups)}")
    for group in groups:
        if isinstance(group, str):
            raise ValueError(f"groups must be lists of links, not {checks.described(group)}")
        yield group


def _named_pairs(what: str, pairs: Any, links: Mapping[str, int]) -> set[tuple[str, str]]:
    found = set()
    for pair in pairs:
        if isinstance(pair, str) or len(pair := tuple(pair)) != 2:
            raise ValueError(f"{what} must be pairs of links, not {checks.described(pair)}")
        found.add(ordered(*(checks.known_link(link, links) for link in pair)))
    return found
