"""Printing of equations of motion as text, LaTeX and Python source."""
import keyword
import re
import textwrap
from collections.abc import Iterable
from typing import Any

import sympy
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from screw_dynamics.utils.checks import whole

from .arguments import rate

INPUTS = {"M": 1, "C": 2, "g": 1, "tau": 3, "q_rates": 2}       # number of q, qd and qdd on which a result depends


def _readable(x, digits):
    """Return x with decimal fractions as decimals, except halves, and floats with `digits` digits."""
    new = {r: sympy.Float(sympy.Rational(r), 15) for r in x.atoms(sympy.Rational)
           if r.q > 2 and _is_decimal(r.q)}
    return x.xreplace({f: sympy.Float(f, digits) for f in x.atoms(sympy.Float)} | new)


def _is_decimal(denominator):
    """Return True if a fraction with this denominator has a short decimal expansion."""
    return 10**9 % denominator == 0


def _entries(equations, results, digits):
    """Yield (symbol, list of indices, formula) of every nonzero entry. Equal entries of M are combined."""
    digits = whole("digits", digits, 1)
    for name in results:
        matrix = getattr(equations, name)
        for i in range(matrix.rows):
            for j in range(i if name == "M" else 0, matrix.cols):
                if matrix[i, j] != 0:
                    places = [(i, j)] if name in "MC" else [(i,)]
                    if name == "M" and i != j:
                        places.append((j, i))
                    yield name, places, _readable(matrix[i, j], digits)


def _subscript(place):
    numbers = [str(i + 1) for i in place]
    return ("," if any(len(number) > 1 for number in numbers) else "").join(numbers)


def text(equations: Any, results: Iterable[str], digits: int) -> str:
    """Return the text of EquationsOfMotion.text."""
    lines = [f"M(q) qdd + C(q, qd) qd + g(q) = tau,  q = ({', '.join(map(str, equations.q))})"]
    if list(map(rate, equations.q)) != list(equations.qd):
        lines += textwrap.wrap(f"qd = ({', '.join(map(str, equations.qd))})", 110)
    lines.append("")
    for name, places, formula in _entries(equations, results, digits):
        left = " = ".join(f"{name}_{_subscript(place)}" for place in places)
        lines += textwrap.wrap(f"{left} = {sympy.sstr(formula, full_prec=False)}", 110, subsequent_indent=" " * 8,
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", "Entries that are not shown are 0."])


def latex_names(equations: Any) -> dict[sympy.Symbol, str]:
    """Return the LaTeX of coordinates and their derivatives: q_knee is q_{\\mathrm{knee}}, and qd_knee has a dot."""
    names = {}
    velocities = [v for v in equations.qd if v not in set(map(rate, equations.q))]         # of Lie-group joints
    for x in (*equations.q, *velocities):
        base, _, below = str(x).partition("_")
        base = sympy.latex(sympy.Symbol(base)) if base else r"\_"
        if len(below) > 1:
            below = r"\mathrm{" + below.strip("_").replace("_", r"\ ") + "}"
        below = f"_{{{below}}}" if below else ""
        names |= {x: base + below, rate(x): rf"\dot{{{base}}}{below}", rate(rate(x)): rf"\ddot{{{base}}}{below}"}
    return names


def latex(equations: Any, results: Iterable[str], digits: int) -> str:
    """Return the LaTeX of EquationsOfMotion.latex."""
    names, heads = latex_names(equations), {"tau": r"\tau", "q_rates": r"\dot{q}"}
    lines = []
    for name, places, formula in _entries(equations, results, digits):
        left = " = ".join(f"{heads.get(name, name)}_{{{_subscript(place)}}}" for place in places)
        lines.append(f"{left} &= {sympy.latex(formula, symbol_names=names)}")
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


class _Exact:
    """Printer of floats with all digits, as Python reads them."""

    def _print_Float(self, x):
        return repr(float(x))


class _Math(_Exact, PythonCodePrinter):
    pass


class _NumPy(_Exact, NumPyPrinter):
    pass


PRINTERS = {"math": _Math, "numpy": _NumPy}


def _identifiers(symbols, taken):
    """Return symbols whose names are unique Python identifiers not in `taken`, as {symbol: new symbol}."""
    names, taken = {}, set(taken)
    for x in symbols:
        name = re.sub(r"\W", "_", str(x), flags=re.ASCII)
        name = f"_{name}" if name[:1].isdigit() or not name else name
        while name in taken or keyword.iskeyword(name):
            name += "_"
        names[x] = sympy.Symbol(name)
        taken.add(name)
    return names


def python(equations: Any, name: str, results: Iterable[str], module: str, several: bool) -> str:
    """Return the source of EquationsOfMotion.python."""
    found = [getattr(equations, result) for result in results]
    inputs = max(INPUTS[result] for result in results)
    states = dict(zip(("q", "qd", "qdd"), (equations.q, equations.qd, equations.qdd), strict=True))
    symbols = [x for state in states.values() for x in state] + list(equations.parameters)
    plain = set(_identifiers(symbols, ()).values())
    fresh = (x for x in sympy.numbered_symbols("x") if x not in plain)
    steps, matrices = sympy.cse(found, symbols=fresh, order="none")         # sorting is slow for nested formulas
    functions = {type(f).__name__ for x in [x for _, x in steps] + matrices for f in x.atoms(sympy.Function)}
    names = _identifiers(symbols, {*states, *functions, *(str(x) for x, _ in steps), "sqrt", "pi", "array", name})
    printer = PRINTERS[module]({"fully_qualified_modules": False})

    def code(x):
        return printer.doprint(_readable(x.xreplace(names), 17))
    lines = [f'"""{", ".join(results)} of the robot\'s equations of motion, for joint coordinates in rad or m."""']
    if equations.n:
        lines += [f"[{', '.join(str(names[x]) for x in states[key])}] = {key}" for key in list(states)[:inputs]]
    lines += [f"{symbol} = {code(x)}" for symbol, x in steps]
    returned = []
    for result, matrix in zip(results, matrices, strict=True):
        rows = [[code(x) for x in matrix[i, :]] for i in range(matrix.rows)]
        rows = [f"[{', '.join(row)}]" for row in rows] if result in "MC" else [x for row in rows for x in row]
        joint = ", ".join(rows)
        returned.append(f"array([{joint}])" if module == "numpy" else f"[{joint}]")
    lines.append(f"return {', '.join(returned)}{',' if several and len(returned) == 1 else ''}")
    imports = set().union(*printer.module_imports.values()) | ({"array"} if module == "numpy" else set())
    head = [f"from {module} import {', '.join(sorted(imports))}", "", ""] if imports else []
    arguments = ", ".join([*list(states)[:inputs], *(str(names[x]) for x in equations.parameters)])
    return "\n".join([*head, f"def {name}({arguments}):", *(f"    {line}" for line in lines)]) + "\n"
