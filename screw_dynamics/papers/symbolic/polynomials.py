"""Polynomials in sines and cosines of joint angles, for the equations of motion of any robot.

Sparse polynomials add and multiply much faster than expressions, are always expanded, and s^2 + c^2 = 1 makes them
unique: no search for simplifications is needed. `expression` writes a polynomial in the shortest of three forms."""
from collections.abc import Iterable, Sequence
from typing import Any

import sympy
from sympy import QQ
from sympy.polys.rings import PolyElement, PolyRing

from .exact import fraction_of, simple_fraction
from .scalar import Scalar
from .terms import add, common_factors, multiplied_in, product, waves

FACTORS = 24        # coefficients with at most so many terms are factored
SUMS = 2000         # polynomials with at most so many terms are tried with sines and cosines of sums of angles


class Polynomials:
    """The ring of polynomials with rational coefficients in parameters, coordinates, and sines and cosines of angles.

    expressions: all possible inputs. coordinates: symbols q; rates: qd and qdd. families: pairs (rate, q) for the
    angles rate * q, grouped by parallel axes, as their sums may simplify results. quaternions: x y z w among the
    coordinates, of unit length: w^2 = 1 - x^2 - y^2 - z^2 makes polynomials unique. If the expressions have floats,
    results have floats, too. `tolerance`, times the largest coefficient, is the largest distance of a float from the
    simple number that replaces it, an integer if not `fractions`."""

    def __init__(self, expressions: Iterable[sympy.Expr], coordinates: Sequence[sympy.Symbol],
                 rates: Sequence[sympy.Symbol], families: Iterable[Iterable[tuple]],
                 quaternions: Iterable[Sequence[sympy.Symbol]], tolerance: float, fractions: bool = True) -> None:
        self.tolerance, self.fractions = tolerance, fractions
        self.inexact = any(x.has(sympy.Float) for x in expressions)
        expressions = [x for x in dict.fromkeys(expressions) if not x.is_Number]
        polynomials, parameters = [], ()
        if expressions:
            polynomials, options = sympy.parallel_poly_from_expr([_exactly(x) for x in expressions])
            parameters = options.gens
        families = [[(rate, q, rate * q) for rate, q in family] for family in families]
        pairs = [f(angle) for family in families for *_, angle in family for f in (sympy.sin, sympy.cos)]
        symbols = list(dict.fromkeys([*parameters, *coordinates, *rates, *pairs])) or [sympy.Dummy()]
        self.ring = PolyRing(symbols, QQ, sympy.lex)
        self._place = {x: i for i, x in enumerate(symbols)}
        quaternions = [[self._place[x] for x in quaternion] for quaternion in quaternions]
        self._quaternions = {place for quaternion in quaternions for place in quaternion}
        self._rates, self._trigonometric = {self._place[x] for x in rates}, {self._place[x] for x in pairs}
        self._families = [[(self._place[sympy.sin(a)], self._place[sympy.cos(a)], a) for *_, a in family]
                          for family in families]
        self._known = dict(zip(symbols, self.ring.gens, strict=True))
        self._known |= {x: self._from_poly(p) for x, p in zip(expressions, polynomials, strict=True)}
        self._relations = self._squares(symbols)
        for x, y, z, w in quaternions:
            self._relations[w] = 1 - self.ring.gens[x] ** 2 - self.ring.gens[y] ** 2 - self.ring.gens[z] ** 2
        self._sincos = {self.element(rate) * self.element(q): (self._known[sympy.sin(a)], self._known[sympy.cos(a)])
                        for family in families for rate, q, a in family}

    def _from_poly(self, polynomial):
        """Return a SymPy Poly in some of the generators, as an element of the ring."""
        places, element = [self._place[x] for x in polynomial.gens], self.ring.zero
        for exponents, coefficient in polynomial.terms():
            monomial = [0] * self.ring.ngens
            for place, exponent in zip(places, exponents, strict=True):
                monomial[place] = exponent
            element[tuple(monomial)] = QQ.from_sympy(sympy.sympify(coefficient))
        return element

    def _squares(self, generators):
        """Return {place: square} of the generators whose square is replaced: of a sine, and of the root of a number."""
        squares = {}
        for place, x in enumerate(generators):
            if x.func is sympy.sin and sympy.cos(x.args[0]) in self._place:
                squares[place] = 1 - self.ring.gens[self._place[sympy.cos(x.args[0])]] ** 2
            elif x.is_Pow and x.exp == sympy.Rational(1, 2) and x.base.is_Rational:
                squares[place] = self.ring(QQ.from_sympy(x.base))
        return squares

    # --------------------------------------------------------------------------------------------- kernel interface
    def element(self, x: Any) -> PolyElement:
        """Return a number, an expression or a Scalar, as an element of the ring."""
        if isinstance(x, Scalar):
            return x.x
        if isinstance(x, sympy.Expr) and not x.is_Number:
            return self._known[x]
        return self.ring(QQ.from_sympy(x if getattr(x, "is_Rational", False) else fraction_of(x)))

    def scalar(self, x: Any) -> Scalar:
        """Return a number, an expression or a Scalar, as a Scalar of this algebra."""
        return Scalar(self, self.element(x))

    add, subtract = staticmethod(lambda a, b: a + b), staticmethod(lambda a, b: a - b)

    def multiply(self, a: PolyElement, b: PolyElement) -> PolyElement:
        """Return the product, without squares of sines."""
        return _reduced(a * b, self._relations)

    @staticmethod
    def divide(a: PolyElement, b: PolyElement) -> PolyElement:
        """Return the quotient by a number, such as the square of a quaternion's length."""
        if not b.is_ground:
            raise ValueError(f"{a} cannot be divided by {b} in polynomials")
        return a.quo_ground(b.LC)

    def sincos(self, angle: PolyElement) -> tuple[PolyElement, PolyElement]:
        """Return sine and cosine of an angle: generators, except for the angle 0."""
        return self._sincos[angle] if angle else (self.ring.zero, self.ring.one)

    # --------------------------------------------------------------------------------------------- expressions
    def expression(self, p: PolyElement) -> sympy.Expr:
        """Return an element in the shortest of three forms: without squares of sines, without squares of cosines, or
        with sines and cosines of sums of angles."""
        p = self._rounded(p)
        forms = [self._collected(self._products(p))]
        cosines = {c: 1 - self.ring.gens[s] ** 2 for family in self._families for s, c, _ in family}
        sines = _reduced(p, cosines)
        if sines != p:
            forms.append(self._collected(self._products(sines)))
        if len(p) <= SUMS and any(len(family) > 1 for family in self._families):
            forms.append(self._collected(self._sums(p)))
        return min(forms, key=sympy.count_ops)

    def _rounded(self, p):
        """Return p with rounding errors removed from its coefficients."""
        if not (self.inexact and p):
            return p
        error = self.tolerance * float(max(map(abs, p.values())))
        rounded = self.ring.zero
        for monomial, coefficient in p.items():
            near = simple_fraction(coefficient, error)
            if near is None or not (self.fractions or near.denominator == 1):
                rounded[monomial] = coefficient
            elif near:
                rounded[monomial] = QQ(near.numerator, near.denominator)
        return rounded

    def _split(self, monomial):
        """Return the exponents of a monomial, split into rates; sines, cosines and quaternions; and the rest."""
        turns = self._trigonometric | self._quaternions
        rest = set(range(len(monomial))) - self._rates - turns
        return self._part(monomial, self._rates), self._part(monomial, turns), self._part(monomial, rest)

    @staticmethod
    def _part(monomial, places):
        return tuple(e if i in places else 0 for i, e in enumerate(monomial))

    def _written(self, monomial):
        return sympy.Mul(*(self.ring.symbols[i] ** e for i, e in enumerate(monomial) if e))

    def _products(self, p):
        """Return {rates: {product of sines, cosines and quaternions: coefficient}}."""
        found = {}
        for monomial, coefficient in p.items():
            rates, angles, rest = self._split(monomial)
            add(found.setdefault(rates, {}), self._written(angles), self.ring({rest: coefficient}))
        return found

    def _sums(self, p):
        """Return {rates: {product of a sine or cosine of a sum of angles for each family: coefficient}}."""
        found, cached = {}, {}
        for monomial, coefficient in p.items():
            rates, angles, rest = self._split(monomial)
            if angles not in cached:
                total = {self._written(self._part(angles, self._quaternions)): QQ(1)}
                for family in self._families:
                    total = product(total, waves([(angles[s], angles[c], a) for s, c, a in family]))
                cached[angles] = total
            for function, factor in cached[angles].items():
                add(found.setdefault(rates, {}), function, self.ring({rest: coefficient * factor}))
        return found

    def _collected(self, found):
        """Return the expression of {rates: {function of the angles: coefficient}}."""
        total = []
        for rates, functions in found.items():
            inner = sympy.Add(*(self._coefficient(c) * function for function, c in functions.items() if c))
            total.append(self._written(rates) * (inner if self.inexact else common_factors(inner)))
        return sympy.Add(*total) if self.inexact else common_factors(sympy.Add(*total))

    def _coefficient(self, p):
        x = p.as_expr()
        if self.inexact:
            return x.xreplace({r: sympy.Float(float(r)) for r in x.atoms(sympy.Rational)
                               if r.q > 2 and not (self.fractions and simple_fraction(r, 0))})
        return multiplied_in(sympy.factor(x)) if 1 < len(p) <= FACTORS else x


def _reduced(p, squares):
    """Return p with the square of each of the generators {place: square} replaced."""
    for place, square in squares.items():
        while any(monomial[place] > 1 for monomial in p):
            low, high = p.ring.zero, p.ring.zero
            for monomial, coefficient in p.items():
                if monomial[place] > 1:
                    high[(*monomial[:place], monomial[place] - 2, *monomial[place + 1:])] = coefficient
                else:
                    low[monomial] = coefficient
            p = low + high * square
    return p


def _exactly(x):
    return x.xreplace({number: fraction_of(float(number)) for number in x.atoms(sympy.Float)})
