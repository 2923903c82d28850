"""docs/comparison.md and its tables, read back: what the sentences of the page are held against."""
import re
from fractions import Fraction
from functools import cache

from support.paths import ROOT

PAGES = {name: (ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("comparison", "comparison_tables")}
POWERS = {"": 0, "n": 1, "n²": 2, "n³": 3}
COLUMNS = "loops, general axes", "loops", "general", "aligned", "Denavit-Hartenberg"
GENERAL_LOOPS, LOOPS, *STRAIGHT = COLUMNS
DH, NEAR = "Denavit-Hartenberg", "spatial, near"
BODY_FIXED = {"body", "classical", "by mass matrix, body", "by mass matrix, body, sparse"}


def formula(text):
    """{symbol: coefficient} of a sum such as "n³/3 + 31n²/2 - 60" or "42S + 63n - 175r"."""
    terms = {}
    for sign, number, symbol, divisor in re.findall(r"([+-]?)\s*(\d*)([nSGPre]?[²³]?)(?:/(\d+))?", text):
        if number or symbol:
            terms[symbol] = Fraction(int(number or 1) * (-1 if sign == "-" else 1), int(divisor or 1))
    return terms


def at(terms, n):
    """The value of a polynomial {symbol: coefficient} of n joints, or of a formula of a tree {symbol: number}."""
    if isinstance(n, dict):
        return sum(c * n[symbol] for symbol, c in terms.items() if c)
    return sum(c * n ** POWERS[symbol] for symbol, c in terms.items())


def tree_shape(n, r, e):
    """The numbers of a tree of n bodies in arms of equal length, e of them, r of them at the root, without G: four legs
    of six have r = e = 4, an arm of four and five fingers of four r = 1, e = 5."""
    arms = [n // r] * r if r == e else [n // (e + 1)] * (e + 1)
    depths = [d for length in arms for d in range(1, length + 1)]
    if r != e:
        depths = [*range(1, arms[0] + 1), *(arms[0] + d for length in arms[1:] for d in range(1, length + 1))]
    return {"n": n, "r": r, "e": e, "S": sum(depths), "P": sum(d * d for d in depths), "G": 0}


@cache
def tables():
    """[(header, rows)] of all tables of both pages."""
    found = []
    for page in PAGES.values():
        for block in re.findall(r"(?:^\|.*\n)+", page + "\n", re.MULTILINE):
            lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
            found.append((tuple(lines[0]), lines[2:]))
    return found


def with_header(*header):
    """The rows of the tables whose header begins so."""
    return [row for names, rows in tables() if names[:len(header)] == header for row in rows]


def by_quantity(rows, columns):
    """{(quantity, column): {form: formula}} of the rows (quantity, form, a formula for each column)."""
    found = {}
    for quantity, form, *cells in rows:
        for column, cell in zip(columns, cells, strict=True):
            if cell:
                found.setdefault((quantity, column), {})[form] = formula(cell)
    return found


@cache
def counted():
    """Polynomials of chains of revolute joints, `by_quantity`."""
    return by_quantity(with_header("quantity", "twists", *COLUMNS), COLUMNS)


@cache
def of_joints():
    """Polynomials of chains with prismatic joints, by quantity and joints and kind."""
    (header, rows), = ((names, rows) for names, rows in tables() if names[2:3] == ("prismatic, general",))
    return by_quantity(rows, header[2:])


@cache
def on_floating_bases():
    """Polynomials of chains on floating bases."""
    (header, rows), = ((names, rows) for names, rows in tables() if names == ("quantity", "twists", "loops", "aligned"))
    return by_quantity(rows, header[2:])


@cache
def of_trees():
    """Formulas of trees."""
    (header, rows), = ((names, rows) for names, rows in tables()
                       if names == ("quantity", "twists", "loops", "aligned", DH))
    return by_quantity(rows, header[2:])


@cache
def closed_forms():
    """Polynomials of the closed forms as matrices."""
    return by_quantity(with_header("closed form", "twists"), COLUMNS)


@cache
def as_printed():
    """Polynomials of inverse dynamics as [MD] prints them."""
    columns = GENERAL_LOOPS, LOOPS, "aligned", DH
    rows = [(name.removesuffix(", as printed"), *cells) for name, *cells in with_header("inverse dynamics", *columns)
            if name.endswith(", as printed")]
    return by_quantity([("inverse dynamics", *row) for row in rows], columns)


@cache
def errors():
    """{(quantity, form): [error, one a distance]}; the distances are 0, 1, 10, 100, 1000 m."""
    return {(row[0], row[1]): [float(x) for x in row[2:]] for row in with_header("quantity", "twists", "0 m")}


@cache
def mean_times():
    """{(quantity, way): {form: time over that of the body-fixed form}}, means over robots."""
    rows = with_header("quantity", "way", "time over that of the body-fixed form")
    return {(row[0], row[1]): {form: float(ratio) for form, ratio in re.findall(r"(\D.*?) (\d\.\d+)(?:, |$)", row[2])}
            for row in rows}


def _ratios(cell):
    return dict(re.findall(r"(\D.*?) (\d+\.\d+)(?:, |$)", cell))


def span(quantity, form, way):
    """The least and the greatest time over that of the body-fixed form, as printed, over the real robots."""
    found = [_ratios(row[4])[form] for row in with_header("quantity", "way", "robot (joints)")
             if (row[0], row[1]) == (quantity, way) and "specialized" not in row[2]
             and ("last body" in quantity or not row[2].startswith("chain"))]
    return min(found), max(found)


def span_of_target(quantity, form, way):
    """The same with AVX2 alone."""
    found = [_ratios(row[4])[form] for row in with_header("quantity", "way", "robot", "AVX-512: over body")
             if (row[0], row[1]) == (quantity, way) and "specialized" not in row[2]]
    return min(found), max(found)


@cache
def answers():
    """{(quantity, column): cell} of the first table: the form with the fewest operations, or that of the least time."""
    (header, rows), = ((names, rows) for names, rows in tables() if names[:2] == ("", "fewest, loops"))
    return {(row[0], column): cell for row in rows for column, cell in zip(header[1:], row[1:], strict=True)}


def fewest(table, quantity, column, n):
    """The forms with the fewest operations at n."""
    values = {form: at(terms, n) for form, terms in table[quantity, column].items()}
    return {form for form, value in values.items() if value == min(values.values())}


def section(title):
    """The text of the section of this title, without tables and pictures."""
    text = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGES["comparison"], re.MULTILINE | re.DOTALL)[1]
    return "\n".join(line for line in text.splitlines() if not line.startswith(("|", "!")))


def sentences(text):
    """The sentences of a text on one line each, without marks of lists and emphasis."""
    text = re.sub(r"\s+", " ", re.sub(r"^- ", "", text, flags=re.MULTILINE).replace("**", "").replace("*", ""))
    return [s.strip() for s in re.split(r"(?<=[.?])\s+(?=[A-Z`])", text) if s.strip()]
