"""Why a call was not answered, as its caller is told."""

from __future__ import annotations


class CallFailed(Exception):
    """A call that ends without a result: an HTTP status and a clear line."""

    def __init__(self, status: int, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.status, self.message = status, message
        self.again = again
        """Whether the function did not answer through no fault of its own: an asynchronous call is tried again."""


class InstanceLost(CallFailed):
    """The instance went while it worked on the call: whether the call had an effect is not known."""

    def __init__(self, reason: str) -> None:
        super().__init__(502, f"the instance that worked on the call is gone: {reason}", again=True)
