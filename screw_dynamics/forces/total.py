"""Sum of force elements on one robot: efforts, derivatives, energy and power, in Python and for compiled
integrators."""
from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled.calls import Workspaces
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.native import address_of, at
from screw_dynamics.compiled.workspace import Tables
from screw_dynamics.jit.kernel_cache.specs import KernelSpec
from screw_dynamics.model.links import Frame
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.utils import checks
from screw_dynamics.utils.lazy import remade

from .custom import Custom
from .element import KINDS, Element, Robot
from .friction import ModelFriction
from .kernels import WORK, kernels_of, spec_of_derivatives, spec_of_native, spec_of_states
from .laws import (
    ACCOUNT,
    COORDINATE,
    COUNT,
    EFFORT,
    FUNCTION,
    HEADER,
    LINK,
    OF_DUALS,
    OF_NUMBERS,
    OF_Y,
    TERMS,
    CoordinateLaw,
    CustomLaw,
    Law,
    LinkLaw,
    PairLaw,
)


def _built_in():
    # By name: cached kernels read their numbers in this order, which must not depend on the order of imports.
    return {name: KINDS[name].law for name in sorted(KINDS)} | {
        kind.__name__: kind.law for kind in (ModelFriction, Custom)}


class Account(NamedTuple):
    """Energy and power of force elements at states.

    Parameters
    ----------
    stored : ndarray (...)
        Stored energy, J.
    lost : ndarray (...)
        Dissipated power, W.
    given : ndarray (...)
        Power of elements without storage, apart from dissipation, W. Wrenches have such power.
    """

    stored: np.ndarray
    lost: np.ndarray
    given: np.ndarray


class Derivatives(NamedTuple):
    """Efforts, stiffnesses and dampings of force elements at states, and their derivatives.

    Parameters
    ----------
    terms : ndarray (..., 3, n)
        Efforts, stiffnesses and dampings.
    by_q : ndarray (..., 3, n, n)
        Derivatives by displacements of q along the joint twists.
    by_qd : ndarray (..., 3, n, n)
        Derivatives by qd.
    """

    terms: np.ndarray
    by_q: np.ndarray
    by_qd: np.ndarray


@lru_cache(256)
def spec_for(laws: tuple[Law, ...], on_groups: bool, spec_of: Callable[..., KernelSpec], *options: Hashable
             ) -> KernelSpec:
    """Return a KernelSpec of kernels.py, with these options, of the sum over elements of some laws."""
    return spec_of(kernels_of(laws, on_groups), *options)


class ForceSum:
    """The sum of force elements on a robot.

    Parameters
    ----------
    model : Model
        Model of the robot.
    rows : Tables
        Tables of the robot's links and frames for compiled code.
    elements : tuple of Element
        Force elements.

    Raises
    ------
    ValueError
        If an element does not fit the robot. The message names the element.
    """

    def __init__(self, model: Model, rows: Tables, elements: tuple[Element, ...]):
        self.elements, by_law = elements, rows_by_law(model, rows.frames, elements)
        self._model, self._rows, self._numbers = model, rows, packed(by_law.values())
        self._laws = tuple(law for law, _ in by_law.values())

    @remade
    def p(self) -> np.ndarray:
        """The numbers of all elements, with the addresses of functions that were needed so far."""
        return self._numbers.copy()

    @remade
    def _on_one(self):
        return Workspaces(self._rows, 1)

    @remade
    def _on_duals(self):
        return Workspaces(self._rows, 1 + WIDTH)

    @property
    def where(self) -> int:
        """The address of the numbers of all elements."""
        return at(self.p)

    def address(self, lanes: bool) -> int:
        """Return the address of the kernel for integrators.

        Parameters
        ----------
        lanes : bool
            True for the kernel on lanes, False for the one for a single state.

        Returns
        -------
        int
            Address of the compiled ``kernels.spec_of_native``.
        """
        self._put_addresses(OF_NUMBERS)
        return address_of(spec_for(self._laws, self._model.on_groups or not lanes, spec_of_native, lanes))

    def _put_addresses(self, which):
        """Write the addresses of user-defined functions for numbers, or for dual numbers, which are compiled at their
        first use. Raises ValueError if one does not compile."""
        s = int(self.p[HEADER + 1 + 2 * self._laws.index(Custom.law)])
        for element in self.elements:
            if isinstance(element, Custom):
                if self.p[s + which] == 0.0:
                    self.p[s + which] = element.address(which == OF_DUALS)
                s += FUNCTION + int(self.p[s + COUNT])

    def __bool__(self):
        return bool(self.elements)

    # --------------------------------------------------------------------------------------------- at states
    def efforts(self, q: ArrayLike, qd: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
        """Compute the joint efforts of the elements at states.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        t : array_like (...), optional
            Times, s.

        Returns
        -------
        ndarray (..., n)
            Efforts, N m or N.
        """
        return self.terms(q, qd, t)[..., EFFORT, :]

    def terms(self, q: ArrayLike, qd: ArrayLike, t: ArrayLike = 0.0, ahead: float = 0.0) -> np.ndarray:
        """Compute efforts, stiffnesses and dampings of the elements at states, for implicit integrators.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        t : array_like (...), optional
            Times, s.
        ahead : float, optional
            Time, s, by which coordinates of elements at one joint are taken ahead of q along qd. If it is > 0,
            elements at several joints have no stiffness and damping.

        Returns
        -------
        ndarray (..., 3, n)
            Efforts of all elements, and stiffnesses and dampings of elements at joints.
        """
        return self._of_states("terms", t, q, qd, TERMS, self._model.n, ahead=checks.number("ahead", ahead))

    def link_wrenches(self, q: ArrayLike, qd: ArrayLike, t: ArrayLike = 0.0) -> dict[str, np.ndarray]:
        """Compute the wrenches of elements on links, at states.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        t : array_like (...), optional
            Times, s.

        Returns
        -------
        dict of str to ndarray (..., 6)
            Wrench on each moving link, torque and force, about the link's origin and in its frame, N m and N.
        """
        W = self._of_states("wrenches", t, q, qd, self._on_one.slots, 6)
        return {link: W[..., slot, :] for slot, link in enumerate(self._model.body_names, 1)
                if link in self._model.frames}          # the others are within joints

    def account(self, q: ArrayLike, qd: ArrayLike, t: ArrayLike = 0.0) -> Account:
        """Compute the energy and power of the elements at states.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        t : array_like (...), optional
            Times, s.

        Returns
        -------
        Account
            Stored energy, dissipated power, and power of elements without storage.
        """
        return Account(*np.moveaxis(self._of_states("accounts", t, q, qd, ACCOUNT), -1, 0))

    def potential_energy(self, q: ArrayLike) -> np.ndarray:
        """Compute the stored energy of the elements at configurations.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.

        Returns
        -------
        ndarray (...)
            Energy, J.
        """
        return self.account(q, np.zeros(self._model.n)).stored

    def derivatives(self, q: ArrayLike, qd: ArrayLike, t: ArrayLike = 0.0, ahead: float = 0.0) -> Derivatives:
        """Compute the terms of the elements at states and their exact derivatives, by dual numbers.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        t : array_like (...), optional
            Times, s.
        ahead : float, optional
            Time, s, by which coordinates are taken ahead of q, as in ``terms``.

        Returns
        -------
        Derivatives
            Terms, and their derivatives by q and qd.
        """
        ahead, (lead, (t, q, qd)) = checks.number("ahead", ahead), self._states(t, q, qd)
        n, nq = self._model.n, self._model.nq
        out = np.empty((len(t), TERMS, n, 1 + 2 * n))
        size = WORK * nq
        work = np.empty(size, dtype=object) if PLAIN else np.zeros((1 + WIDTH) * size)
        self._put_addresses(OF_DUALS)
        self._run(self._on_duals, spec_of_derivatives, (), t, ahead, q, qd, work, out)
        out = out.reshape(*lead, TERMS, n, 1 + 2 * n)
        return Derivatives(out[..., 0], out[..., 1:1 + n], out[..., 1 + n:])

    def _of_states(self, what, t, q, qd, *shape, ahead=0.0):
        """Return the result of a kernel on states, (..., *shape)."""
        lead, (t, q, qd) = self._states(t, q, qd)
        out = np.empty((len(t), *shape))
        self._put_addresses(OF_NUMBERS)
        self._run(self._on_one, spec_of_states, (what,), t, ahead, q, qd, out)
        return out.reshape(*lead, *shape)

    def _run(self, workspaces, spec, options, *arguments):
        """Call the kernel of a KernelSpec."""
        run = function(spec_for(self._laws, True, spec, *options))
        with workspaces.borrowed() as memory:
            try:
                run(memory, self.p, *arguments)
            except Exception as error:
                name_force(error, self)
                raise

    def _states(self, t, q, qd):
        """Return the leading axes of times and states, and times and states as rows."""
        t, q, qd = checks.broadcast({"t[..., None]": checks.finite_numbers("t", t)[..., None],
                                     "q": checks.real_numbers("q", q, self._model.nq),
                                     "qd": checks.real_numbers("qd", qd, self._model.n)})
        lead = q.shape[:-1]
        rows = (x.reshape(prod(lead), *x.shape[len(lead):]) for x in (t[..., 0], q, qd))
        return lead, [np.ascontiguousarray(x, dtype=float) for x in rows]


def name_force(error: Exception, total: ForceSum | None) -> None:
    """Raise an error of a user-defined force in a sum again, with the name of the force."""
    functions = dict.fromkeys(e.function.__name__ for e in (total.elements if total else ()) if isinstance(e, Custom))
    try:
        named = type(error)(f"{error}, in the force {' or '.join(functions)}") if functions else None
    except TypeError:                                   # a class with another constructor
        return
    if named is not None:
        raise named from error


def check_fits(model: Model, elements: Sequence[Element]) -> None:
    """Check that force elements fit a model.

    Parameters
    ----------
    model : Model
        Model of the robot.
    elements : sequence of Element
        Force elements.

    Raises
    ------
    ValueError
        If an element does not fit the model. The message names the element.
    """
    robot = Robot(model, dict(zip(model.frame_names, model.frame_rows(np.zeros(3)), strict=True)))
    for element in elements:
        element.rows(robot)


def rows_by_law(model: Model, frames: Sequence[Frame], elements: Iterable[Element]
                ) -> dict[str, tuple[Law, list[list[float]]]]:
    """Return {name: (law, rows of its elements)}, for the laws of this package and of elements.

    frames: of the robot. Raises ValueError naming an element that does not fit."""
    robot = Robot(model, dict(zip(model.frame_names, frames, strict=True)))
    found: dict[str, tuple[Law, list]] = {name: (law, []) for name, law in _built_in().items()}
    for element in elements:
        own = element.rows(robot)
        law, rows = found.setdefault(element.name, (element.law, []))
        if law != element.law:
            raise ValueError(f"{element}: {element.name!r} is the name of another law too")
        rows.extend(own)
    return found


def packed(by_law: Collection[tuple[Law, list[list[float]]]]) -> np.ndarray:
    """Return the numbers of all elements for kernels: a header, the count and the position of the elements of each
    law, and then the numbers."""
    start, header, numbers, on_links = HEADER + 2 * len(by_law), [], [], 0
    for law, rows in by_law:
        for row in rows:
            if len(row) != (width := law.width + _numbers_of_place(law, row)):
                raise ValueError(f"a row of {law} must have {width} numbers, not {len(row)}")
        on_links += len(rows) * isinstance(law, LinkLaw)
        header += [len(rows), start + len(numbers)]
        numbers += [x for row in rows for x in row]
    return np.array([start + len(numbers), on_links, *header, *numbers], dtype=float)


def _numbers_of_place(law, row):
    """Return the count of numbers of an element before its own: for its location, or a function and its parameters."""
    if isinstance(law, (CoordinateLaw, PairLaw)):
        return 1 + COORDINATE * int(row[0]) + OF_Y * isinstance(law, PairLaw)
    if isinstance(law, CustomLaw):
        return FUNCTION + int(row[COUNT])
    return LINK * isinstance(law, LinkLaw)


def specs(on_groups: bool, lanes: bool) -> Iterator[tuple[bool, KernelSpec]]:
    """Yield the KernelSpecs of this package's laws.

    With True those of balances of energy and momentum, with False those of rollouts, linear models and wrenches."""
    laws = tuple(_built_in().values())
    yield False, spec_for(laws, on_groups or not lanes, spec_of_native, lanes)
    if not lanes:
        for what in ("terms", "accounts", "wrenches"):
            yield what != "wrenches", spec_for(laws, True, spec_of_states, what)
        yield False, spec_for(laws, True, spec_of_derivatives)
