"""Attributes that are computed at their first use."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  a decorator
    """An attribute that a method computes at its first use and that the instance then stores.

    functools.cached_property of Python 3.10 and 3.11 holds a lock during the computation: if another thread forks, that
    lock stays locked in the child. Without a lock, two threads may compute the value at once; both get the first
    result."""

    def __init__(self, compute: Callable[[Any], T]):
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the value and store it in the instance's dict, which takes precedence over this descriptor."""
        return self if instance is None else vars(instance).setdefault(self._name, self._compute(instance))


class remade(lazy[T]):  # noqa: N801  a decorator
    """A lazy attribute that pickles and copies of the instance omit and compute anew at its first use: machine code,
    addresses and the memory at these addresses belong to one process and one instance.

    It gives its class a `__getstate__` that also copies dicts and lists."""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        if "__getstate__" not in vars(owner):
            owner.__getstate__ = _given     # type: ignore[attr-defined]

    def forget(self, instance: object) -> None:
        """Discard the value; the next use computes it anew."""
        vars(instance).pop(self._name, None)


def _given(instance: Any) -> dict[str, Any]:
    """Return all attributes except those that are computed anew."""
    kind = type(instance)
    return {name: x.copy() if type(x) in (dict, list) else x for name, x in vars(instance).items()
            if not isinstance(getattr(kind, name, None), remade)}
