"""Intrinsics that were declared before Numba was imported."""
from .tested import required

with required("declare intrinsics"):
    from numba.core.registry import cpu_target
from numba.extending import typeof_impl


def recognize(kind: type) -> None:
    """Have compiled code that names an object of a class call the intrinsic `made` that this has."""
    @typeof_impl.register(kind)
    def _typeof(x, context):
        return cpu_target.typing_context.resolve_value_type(x.made)
