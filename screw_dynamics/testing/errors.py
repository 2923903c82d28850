"""Exceptions that end a simulated run."""


class LockstepError(RuntimeError):
    """The run cannot continue.

    A process has ended, a command was not received, or a state was lost. The message names the cause.
    """


class DeadlineError(AssertionError):
    """A condition did not hold by its deadline in simulated time."""
