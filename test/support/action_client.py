"""Goals of actions, sent by the driver of a node."""
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

STATUS = {GoalStatus.STATUS_SUCCEEDED: "succeeded", GoalStatus.STATUS_ABORTED: "aborted",
          GoalStatus.STATUS_CANCELED: "cancelled"}


class Actions:
    """The clients of actions, by name, on a driver's node."""

    def __init__(self, driver):
        self.driver = driver
        self._clients = {}

    def send(self, kind, name, **fields):
        """Send a goal; the accepted one."""
        name = name.replace("~", self.driver.peer)
        if name not in self._clients:
            client = self._clients[name] = ActionClient(self.driver.node, kind, name)
            self.driver.wait(client.server_is_ready, f"action {name}")
        return Sent(self.driver, self._clients[name], kind.Goal(**fields))


class Sent:
    """A goal that was accepted, and the feedback that came for it."""

    def __init__(self, driver, client, goal):
        self._driver, self.feedback = driver, []
        sent = client.send_goal_async(goal, feedback_callback=lambda msg: self.feedback.append(msg.feedback))
        driver.wait(sent.done, "the acceptance of a goal")
        assert sent.result().accepted
        self._handle = sent.result()
        self._result = self._handle.get_result_async()

    @property
    def goal_id(self):
        return bytes(self._handle.goal_id.uuid)

    @property
    def done(self):
        return self._result.done()

    def result(self):
        """How it ended, as a word, and its result."""
        answer = self._driver.wait(lambda: self._result.done() and self._result.result(), "the result of a goal")
        return STATUS[answer.status], answer.result

    def cancel(self):
        """Ask for its end; whether that was granted."""
        asked = self._handle.cancel_goal_async()
        self._driver.wait(asked.done, "the answer to a cancellation")
        return bool(asked.result().goals_canceling)
