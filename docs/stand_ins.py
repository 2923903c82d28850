"""Stand-ins for packages that are not installed, so that modules that import them can be read."""
import importlib.util
import sys
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType


class _StandIn(type):
    """A class that has every attribute, can be called, is empty, and can be an alternative in an annotation."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(name, (), {})

    def __call__(cls, *arguments, **named):
        return _StandIn(cls.__name__, (), {})

    def __iter__(cls):
        return iter(())

    def __or__(cls, other):
        return cls

    __ror__ = __or__


class _Module(ModuleType):
    def __getattr__(self, name):
        return getattr(_StandIn(name, (), {}), name)


class _Finder:
    """Finds the packages of these names, and whatever is in them."""

    def __init__(self, names):
        self._names = names

    def find_spec(self, name, path=None, target=None):
        """Find a module that stands in."""
        if name.partition(".")[0] in self._names:
            return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        """Make it."""
        return _Module(spec.name)

    def exec_module(self, module):
        """Leave it empty."""


def installed(name: str) -> bool:
    """Whether there is such a package; a folder of its name, which is found as well, has no origin."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None


@contextmanager
def stand_ins(names):
    """Within this, those of these packages that are not installed can be imported; what imported them stays."""
    finder = _Finder([name for name in names if not installed(name)])
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] in finder._names]:
            del sys.modules[name]
