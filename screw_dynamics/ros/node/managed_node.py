"""What both nodes are: managed, with checked parameters and diagnostics, and not to be stopped by a message."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos_overriding_options import QoSOverridingOptions

from .diagnostics import Diagnostics, Report
from .joint_state import Fault
from .parameters import Parameters, Setting


class ManagedNode(LifecycleNode):
    """A lifecycle node that a subclass completes by `create_endpoints`, `forget` and `health`.

    settings: the parameters of the table. state_label: "unconfigured", "inactive", "active" or "finalized". endpoints:
    an exit stack that undoes `create_endpoints`. diagnostics: published from the start on, whatever the state.
    """

    def __init__(self, name: str, table: Sequence[Setting], title: str, **node_options):
        super().__init__(name, **node_options)
        self.settings = Parameters(self, table)
        self.state_label = "unconfigured"
        self.endpoints = contextlib.ExitStack()
        self.diagnostics = Diagnostics(self, self.health, title)

    def start(self) -> None:
        """Configure and activate, if the parameter autostart says so."""
        if self.settings.autostart and self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    # For subclasses

    def create_endpoints(self) -> None:
        """Create topics, services and timers; `endpoints` is told how to remove each."""
        raise NotImplementedError

    def forget(self) -> None:
        """Forget what was learnt while configured; the endpoints are gone already."""
        raise NotImplementedError

    def health(self) -> Report:
        """Level, message and values for the diagnostics."""
        raise NotImplementedError

    def publisher(self, kind, topic: str, qos):
        """A publisher that is silent unless the node is active; its QoS can be overridden by parameters."""
        options = QoSOverridingOptions.with_default_policies()
        publisher = self.create_lifecycle_publisher(kind, topic, qos, qos_overriding_options=options)
        self.endpoints.callback(self.destroy_lifecycle_publisher, publisher)
        return publisher

    def subscribe(self, kind, topic: str, callback: Callable, qos) -> None:
        """Subscribe with a callback that may raise; the QoS can be overridden by parameters."""
        options = QoSOverridingOptions.with_default_policies()
        subscription = self.create_subscription(
            kind, topic, self.surviving(topic, callback), qos, qos_overriding_options=options
        )
        self.endpoints.callback(self.destroy_subscription, subscription)

    def surviving(self, source: str, callback: Callable) -> Callable:
        """The callback, with faults counted and logged: no message stops the node."""

        def survive(*arguments) -> None:
            try:
                callback(*arguments)
            except Fault as fault:
                self.diagnostics.drop(source, fault)
            except Exception:
                if self.context.ok():   # else it is the shutdown that pulls the ground away
                    self.diagnostics.drop(source, Fault("internal error", traceback.format_exc(), "error"))

        return survive

    # Lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create topics and services, and wait for a robot from now on."""
        try:
            self.create_endpoints()
        except Exception as error:   # rclpy would swallow it
            self.get_logger().error(f"cannot be configured: {error}")
            self._stop("unconfigured")
            return TransitionCallbackReturn.FAILURE
        self.state_label = "inactive"
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take messages and publish."""
        self.state_label = "active"
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ignore messages and publish nothing."""
        self.state_label = "inactive"
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Only parameters and diagnostics are left."""
        return self._stop("unconfigured")

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        return self._stop("finalized")

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start anew after a transition that failed."""
        return self._stop("unconfigured")

    def _stop(self, label: str) -> TransitionCallbackReturn:
        self.endpoints.close()
        self.forget()
        self.state_label = label
        return TransitionCallbackReturn.SUCCESS


def run(make_node: Callable[[], ManagedNode], args: Sequence[str] | None = None) -> int:
    """Run a node until SIGINT or SIGTERM; 0 then, 1 and one line when a parameter is wrong from the start."""
    rclpy.init(args=args)
    try:
        executor = SingleThreadedExecutor()
        node = make_node()
        executor.add_node(node)
        node.start()
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception:
        if rclpy.ok():   # else a signal came while the node was being made
            raise
    finally:
        rclpy.try_shutdown()
    return 0
