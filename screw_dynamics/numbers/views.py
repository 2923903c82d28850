"""View: an array over memory that it does not own, in compiled code.

Numba counts the references to an array wherever one is copied, though there is nothing to count if it holds none: a
table of twenty columns that goes into a call took forty calls. Nothing is counted of a View. It is as long valid as the
memory that it lies in."""
from typing import Any

from numba import types
from numba.extending import intrinsic, lower_cast, models, register_model

from screw_dynamics.numba_internals.arrays import borrowed


class View(types.Array):
    """A Numba type of arrays (dtype, ndim, layout) that hold no reference."""

    def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True):
        kind = f"{'readonly ' * readonly}{'unaligned ' * (not aligned)}view"
        super().__init__(dtype, ndim, layout, readonly=readonly, aligned=aligned,
                         name=f"{kind}({dtype}, {ndim}d, {layout})")

    def copy(self, dtype: Any = None, ndim: int | None = None, layout: str | None = None,
             readonly: bool | None = None) -> "View":
        """The type of a part of such an array."""
        return View(self.dtype if dtype is None else dtype, self.ndim if ndim is None else ndim,
                    self.layout if layout is None else layout, not self.mutable if readonly is None else readonly,
                    self.aligned)

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type of what is one or the other: a View, if both are."""
        found = super().unify(typingctx, other)
        if found is None or not isinstance(other, View):
            return found
        return View(found.dtype, found.ndim, found.layout, not found.mutable, found.aligned)


@register_model(View)
class _Model(models.ArrayModel):
    """As of an array, but that nothing is counted of what it holds."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind)
        members = [(name, types.voidptr if name == "meminfo" else member)
                   for name, member in zip(self._fields, self._members, strict=True)]
        models.StructModel.__init__(self, manager, kind, members)

    def traverse(self, builder):
        """Nothing is counted."""
        return []


@lower_cast(View, types.Array)
def _as_array(context, builder, source, target, value):
    return value


@intrinsic
def as_array(typing: Any, view: Any) -> tuple[Any, Any]:
    """The same memory as an array of Numba's own: what NumPy makes of its kind, as np.zeros_like(q) does, is one
    too, and holds a reference to its memory, which a View would forget."""
    kind = types.Array(view.dtype, view.ndim, view.layout, readonly=not view.mutable, aligned=view.aligned)
    return kind(view), lambda context, builder, signature, values: borrowed(context, builder, kind, values[0])
