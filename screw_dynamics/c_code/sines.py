"""The C function for sines and cosines: the reductions and polynomials of numbers/scalars.py, branch-free.

Compilers vectorize it over several angles, unlike calls of the C library. The quadrant is computed by a cast instead of
the addition of a large number, which options like -ffast-math would eliminate. The constants of single precision are
those of sincos_single, those of double precision fdlibm's, as in sincos_polynomial."""
from collections.abc import Iterator

from screw_dynamics.numbers.scalars import LIMIT, SINGLE_LIMIT

from .layout import block
from .printing import SINES, Dialect, wrapped

_PARTS_OF_QUARTER = {"double": (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
                     "float": (1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8)}
_SINE = {"double": (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),
         "float": (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)}
_COSINE = {"double": (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                      -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11),
           "float": (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)}


def sines_and_cosines(dialect: Dialect) -> Iterator[str]:
    """Yield the lines of the function."""
    scalar, literal = dialect.scalar, dialect.number
    limit = LIMIT if scalar == "double" else SINGLE_LIMIT
    bound, zero, half, one = map(literal, (limit, 0.0, 0.5, 1.0))
    yield from block([f"Sines and cosines of some angles, each x = quadrant pi/2 + r with |r| <= pi/4, without a "
                      f"branch, so that compilers take several at once. From {limit:g} rad on, and of what is not "
                      "finite, by the C library."], hang="")
    yield f"static void {dialect.prefix}_{SINES}(int count, const {scalar} *angle, {scalar} *s, {scalar} *c) {{"
    yield from f"""\
  int far = 0;
  for (int i = 0; i < count; i++) {{
    far |= !(angle[i] > -{bound} && angle[i] < {bound});
  }}
  if (far) {{
    for (int i = 0; i < count; i++) {{
      s[i] = {dialect.function("sin")}(angle[i]);
      c[i] = {dialect.function("cos")}(angle[i]);
    }}
    return;
  }}
  for (int i = 0; i < count; i++) {{
    const {scalar} x = angle[i];
    const int quadrant = (int)({literal(0.6366197723675814)} * x + (x < {zero} ? -{half} : {half}));
    const {scalar} k = ({scalar})quadrant, odd = ({scalar})(quadrant & 1), even = {one} - odd;
    const {scalar} sign = ({scalar})(1 - (quadrant & 2));""".splitlines()
    first, second, third = map(literal, _PARTS_OF_QUARTER[scalar])
    if scalar == "double":
        yield f"    const {scalar} y = x - k * {first}; // exact, as this part of pi/2 has few digits"
        yield f"    const {scalar} h = y - k * {second};"
        yield f"    const {scalar} r = h + (((y - h) - k * {second}) - k * {third});"
    else:
        yield f"    const {scalar} r = ((x - k * {first}) - k * {second}) - k * {third};"
    yield f"    const {scalar} z = r * r;"
    yield from _statement(f"const {scalar} sine = r + r * z * ({_horner(_SINE[scalar], literal)});")
    yield from _statement(
        f"const {scalar} cosine = {one} - ({half} * z - z * z * ({_horner(_COSINE[scalar], literal)}));")
    yield "    s[i] = sign * (odd * cosine + even * sine);"
    yield "    c[i] = sign * (even * cosine - odd * sine);"
    yield "  }"
    yield "}"


def _statement(text):
    """Return a statement in the loop, wrapped to the line width."""
    return (f"    {line}" for line in wrapped(text, 114))


def _horner(coefficients, literal):
    """Return a polynomial in z as a Horner scheme: a - z * (b - z * c) for alternating signs."""
    last, *others = reversed(coefficients)
    text = literal(abs(last))
    for this, after in zip(others, (last, *others), strict=False):
        text = f"{literal(abs(this))} {'-' if this * after < 0 else '+'} z * {f'({text})' if ' ' in text else text}"
    return text if coefficients[0] > 0 else f"-({text})"
