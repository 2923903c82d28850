"""A recorded topic: one subscription, with the type and QoS that its publishers offer. Publishers may come and go,
disagree on the type, and use any type name."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

from ..executor.hot_subscription import HotSubscription
from ..node.plain_text import printable
from .message_definition import type_of

DEPTH = 1000    # queued messages of a topic while the disk is slow; further ones are lost, and counted
LOOKS = 5       # polls of the number of publishers for each query of their data


class Offer(NamedTuple):
    """The offer of the publishers of one type: the type's name, the number of publishers, True if all of them are
    reliable, and True if all of them are transient local."""

    kind: str
    publishers: int
    reliable: bool = False
    latched: bool = False

    def falls_short_of(self, other: "Offer") -> bool:
        """Return True if a subscription with the QoS of the other offer would be incompatible with some of these
        publishers."""
        return other.reliable > self.reliable or other.latched > self.latched


def offers(infos: Iterable[TopicEndpointInfo]) -> list[Offer]:
    """Return the offers of publishers, one for each type."""
    of: dict[str, list[QoSProfile]] = {}
    for info in infos:
        of.setdefault(info.topic_type, []).append(info.qos_profile)
    return [Offer(kind, len(profiles),
                  all(qos.reliability == QoSReliabilityPolicy.RELIABLE for qos in profiles),
                  all(qos.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL for qos in profiles))
            for kind, profiles in of.items()]


def chosen(found: Iterable[Offer], ours: str, current: str) -> Offer | None:
    """Return the offer to record: that of the type that this package's nodes use on this topic, else the one with most
    publishers; among equals, the one that is recorded already."""
    return max(found, key=lambda offer: (offer.kind == ours, offer.publishers, offer.kind == current, offer.kind),
               default=None)


class RecordedTopic:
    """A topic whose messages are passed to `write(topic, kind, data)` as bytes, and whose losses to `lost(topic,
    count)`, while the node's lock is held.

    ours: the name of the type that this package's nodes use on this topic, "" if there is none. refused: {type name:
    reason for which its publishers are not recorded}, for display."""

    def __init__(self, node: Node, name: str, ours: str, write: Callable[[str, type, bytes], None],
                 lost: Callable[[str, int], None]):
        self._node, self._name, self._ours, self._write, self._lost = node, name, ours, write, lost
        self._subscription: HotSubscription | None = None
        self._offer: Offer | None = None
        self._seen, self._looks = 0, 0
        self.refused: dict[str, str] = {}

    @property
    def recorded(self) -> bool:
        """True if there is a subscription."""
        return self._subscription is not None and not self._subscription.closed

    def look(self) -> None:
        """Subscribe when there is a publisher; subscribe again when publishers offer a lower QoS, or most of them
        another type."""
        self._looks += 1
        count = self._node.count_publishers(self._name)
        if count == self._seen and self._looks % LOOKS:
            return
        self.refused = {}
        known = {offer: kind for offer in (self._offers() if count else ())
                 if (kind := self._installed(offer.kind)) is not None}
        offer = chosen(known, self._ours, self._offer.kind if self._offer else "")
        if offer is not None:
            self.refused |= {other.kind: f"{other.publishers} publish it, while {offer.kind} is recorded"
                             for other in known if other is not offer}
            if not self._follow(offer, known[offer]):
                return      # and try again soon
        self._seen = count

    def _offers(self) -> list[Offer]:
        try:
            return offers(self._node.get_publishers_info_by_topic(self._name))
        except UnicodeDecodeError:      # for all publishers, if one's type or node name is not valid text
            self.refused["(not text)"] = "the name of a publisher's type or node, so that the others are not seen"
            return [self._offer] if self._offer else [Offer(self._ours, 1)] if self._ours else []

    def _installed(self, name: str) -> type | None:
        try:
            return type_of(name)
        except ValueError as error:
            self.refused[printable(name[:80])] = str(error)
            return None

    def _follow(self, offer: Offer, kind: type) -> bool:
        """Subscribe to an offer, unless that is done. Return True if there is a subscription."""
        last = self._subscription
        if self._offer is not None and offer.kind == self._offer.kind:
            if not offer.falls_short_of(self._offer):
                return True
            offer = Offer(offer.kind, offer.publishers, offer.reliable and self._offer.reliable,
                          offer.latched and self._offer.latched)
        elif last is not None:
            last.close()
            self._offer = None
            if not last.ended:      # the middleware supports one type per topic at a time
                return False
        try:
            self._subscription = self._subscribe(offer, kind)
        except Exception as error:  # noqa: BLE001  any error of the middleware; the other topics are recorded
            self.refused[offer.kind] = printable(str(error))
            return False
        self._offer = offer
        if last is not None and not last.closed:
            last.close()
        return True

    def _subscribe(self, offer: Offer, kind: type) -> HotSubscription:
        # The QoS that all publishers offer: with a higher one, some publishers would be incompatible.
        qos = QoSProfile(
            depth=DEPTH,
            reliability=QoSReliabilityPolicy.RELIABLE if offer.reliable else QoSReliabilityPolicy.BEST_EFFORT,
            durability=QoSDurabilityPolicy.TRANSIENT_LOCAL if offer.latched else QoSDurabilityPolicy.VOLATILE)
        return HotSubscription(self._node, kind, self._name, partial(self._write, self._name, kind),
                               partial(self._lost, self._name), qos, overridable=self._subscription is None)

    def close(self) -> None:
        """Stop recording; call `join` afterwards."""
        if self.recorded:
            self._subscription.close()

    def join(self) -> None:
        """Wait until the last message is written. Call it without holding the node's lock."""
        if self._subscription is not None:
            self._subscription.join()
