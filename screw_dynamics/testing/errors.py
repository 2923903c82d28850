"""Exceptions that end a simulated run."""


class LockstepError(RuntimeError):
    """The run cannot go on: a process has ended, a command never came, a state was lost. The message says which."""


class DeadlineError(AssertionError):
    """A condition did not hold by its deadline in simulated time."""
