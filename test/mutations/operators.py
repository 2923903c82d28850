"""What a mutation is: one expression of a Python file, replaced by another.

Six operators: a sign (a + b is a - b, -a is a), a term that is left out (a + b is a), an index (x[0] is x[1]), a
comparison or a logical operator (< is >=, `and` is `or`, `not` is left out), a constant (0 is 1, 0.5 is 1.0, True is
False), and two arguments that change places. Products, chains of comparisons, texts, types and decorators stay."""
import ast
from collections.abc import Iterator
from typing import NamedTuple

NEGATED = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
# Of which the order of arguments does not count, or changes nothing but a message.
SYMMETRIC = {"add", "allclose", "array_equal", "dot", "hypot", "isclose", "max", "maximum", "min", "minimum", "zip"}
# Swapped arguments of these raise TypeError: no test is needed to see it.
TYPED = {"getattr", "hasattr", "isinstance", "issubclass", "setattr"}
# A constant of less, or of more, is a tolerance: what it does cannot be seen.
TOLERANCE = 1e-5


class Mutation(NamedTuple):
    """kind: the operator; line: the first line of the expression; begin, end: its place, in bytes; old, new: its text
    before and after."""

    kind: str
    line: int
    begin: int
    end: int
    old: str
    new: str

    def applied(self, text: str) -> str:
        """Return the source with the mutation."""
        data = text.encode()
        return (data[:self.begin] + self.new.encode() + data[self.end:]).decode()


def mutations(text: str) -> list[Mutation]:
    """Return all mutations of a source, in the order of their places."""
    data, starts = text.encode(), [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _expressions(ast.parse(text)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = data[begin:end].decode()
        for kind, new in _changed(node):
            written = ast.unparse(new)
            if isinstance(new, ast.expr) and not isinstance(new, (ast.Name, ast.Constant, ast.Call, ast.Subscript)):
                written = f"({written})"
            found.append(Mutation(kind, node.lineno, begin, end, old, written))
    return sorted(found, key=lambda m: (m.begin, m.end, m.kind, m.new))


def _expressions(node) -> Iterator[ast.AST]:
    """Yield what may be changed in a tree: neither types, nor texts, nor what is for type checkers alone; indices that
    are written as numbers with what they are indices of."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if name == "slice" and _is_number(value):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                if isinstance(child, (ast.expr, ast.AugAssign)):
                    yield child
                yield from _expressions(child)


def _changed(node) -> Iterator[tuple[str, ast.AST]]:
    """Yield (kind, what takes the place of a node)."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right) if not (_is_text(left) or _is_text(right)):
            yield "sign", ast.BinOp(left, _other(op), right)
            yield "term", left
        case ast.AugAssign(target, ast.Add() | ast.Sub() as op, value) if not _is_text(value):
            yield "sign", ast.AugAssign(target, _other(op), value)
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield "sign", operand
        case ast.UnaryOp(ast.Not(), operand):
            yield "comparison", operand
        case ast.BoolOp(op, values):
            yield "comparison", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield "term", values[0] if len(values) == 2 else ast.BoolOp(op, values[:-1])
        case ast.Compare(left, [op], comparators):
            yield "comparison", ast.Compare(left, [NEGATED[type(op)]()], comparators)
        case ast.Subscript(value, ast.Constant(int(k)), ctx) if not isinstance(k, bool):
            yield "index", ast.Subscript(value, ast.Constant(k + 1), ctx)
        case ast.Subscript(value, ast.UnaryOp(ast.USub(), ast.Constant(int(k))), ctx):
            yield "index", ast.Subscript(value, ast.UnaryOp(ast.USub(), ast.Constant(k + 1)), ctx)
        case ast.Constant(bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(float(value)) if value == 0.0 or TOLERANCE < value < 1.0 / TOLERANCE:
            yield "constant", ast.Constant(2.0 * value or 1.0)
        case ast.Call(func, [first, second, *rest], keywords) if _may_swap(func, first, second):
            yield "arguments", ast.Call(func, [second, first, *rest], keywords)


def _other(op):
    return ast.Sub() if isinstance(op, ast.Add) else ast.Add()


def _is_text(node):
    if isinstance(node, ast.BinOp):                 # a sum of texts, or one that % fills in
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant)


def _may_swap(func, first, second):
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return (name not in SYMMETRIC | TYPED and ast.dump(first) != ast.dump(second)
            and not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred))
