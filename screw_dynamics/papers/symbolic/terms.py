"""Terms of formulas: sums of sines and cosines, and common factors of sums."""
from collections.abc import Iterable
from typing import Any

import sympy
from sympy import QQ

PLAIN = 12          # numbers up to this, and their ratios, may be factors of a sum


def add(terms: dict, key: Any, x: Any) -> None:
    """Add x to terms[key], which is 0 by default."""
    terms[key] = terms[key] + x if key in terms else x


def product(a: dict, b: dict) -> dict:
    """Return the product of two sums {function: coefficient}."""
    result = {}
    for x, f in a.items():
        for y, g in b.items():
            add(result, x * y, f * g)
    return result


def waves(factors: Iterable[tuple[int, int, sympy.Expr]]) -> dict:
    """Return prod sin(a)^i cos(a)^j over (i, j, a) as a sum of sines and cosines, {function: coefficient}."""
    sums = {(sympy.cos, sympy.Integer(0)): QQ(1)}
    for sines, cosines, a in factors:
        for is_sine in [True] * sines + [False] * cosines:
            result = {}
            for (f, b), x in sums.items():
                # cos b cos a, sin b cos a; cos b sin a = (sin(a + b) + sin(a - b)) / 2, sin b sin a
                g = {sympy.cos: sympy.sin, sympy.sin: sympy.cos}[f] if is_sine else f
                signs = (1, 1) if not is_sine else (1, -1) if f is sympy.cos else (-1, 1)
                for sign, angle in zip(signs, (b + a, b - a), strict=True):
                    add(result, (g, angle), sign * x / 2)
            sums = result
    found = {}
    for (f, angle), x in sums.items():
        sign, function = f(angle).as_coeff_Mul()            # SymPy turns sin(-a) to -sin(a), and sin(0) to 0
        if sign:
            add(found, function, x * QQ.from_sympy(sign))
    return {value: x for value, x in found.items() if x}


def common_factors(x: sympy.Expr) -> sympy.Expr:
    """Return an expression with symbols that all its terms share factored out, but no odd numbers."""
    return multiplied_in(sympy.factor_terms(x, clear=False))


def multiplied_in(x: sympy.Expr) -> sympy.Expr:
    """Return sums with factored numbers multiplied in, unless they are simple: 3.5 q + 1.36, not 0.02 (175 q + 68)."""
    if not (x.is_Add or x.is_Mul):
        return x
    number, rest = x.as_coeff_Mul()
    if number.is_Rational and max(abs(number.p), number.q) > PLAIN:
        factors = list(sympy.Mul.make_args(rest))
        for i, factor in enumerate(factors):
            if factor.is_Add:
                factors[i] = sympy.Add(*(number * term for term in factor.args))
                x = sympy.Mul(*factors)
                break
    return x.func(*map(multiplied_in, x.args))
