"""The C++17 header: the same functions for std::array and, if Eigen is available, for its matrices."""
from collections.abc import Iterator

from .functions import Array, Function
from .layout import Export, block
from .printing import comment, identifier, wrapped

ABOUT = """Functions on std::array; in the namespace eigen on matrices of Eigen, where it is there. Both call those of
C, which take pointers. A function of several results returns a tuple: auto [q_next, qd_next] = step(...)."""


def wrapper(export: Export) -> str:
    """Return the contents of the header."""
    name, upper, robot = export.name, export.name.upper(), export.robot
    lines = [*block([export.title, ABOUT.replace("\n", " ")], hang=""), f"#ifndef {upper}_HPP",
             f"#define {upper}_HPP", "",
             "#include <array>", "#include <cstddef>", "#include <tuple>", "", f'#include "{name}/{name}.h"', "",
             f"namespace {name} {{", "", f"constexpr std::size_t joints = {len(robot.joint_names)};",
             f"constexpr std::size_t nq = {robot.nq};", f"constexpr std::size_t n = {robot.n};", ""]
    for function, _ in export.functions:
        lines += [*_on_arrays(export, function), ""]
    lines += [f"}} // namespace {name}", "", "#if __has_include(<Eigen/Core>)", "#include <Eigen/Core>", "",
              f"namespace {name} {{", "namespace eigen {", "",
              "template <int rows, int columns>",
              f"using Matrix = Eigen::Matrix<{export.dialect.scalar}, rows, columns, columns == 1 ? Eigen::ColMajor : "
              "Eigen::RowMajor>;", ""]
    for function, _ in export.functions:
        lines += [*_on_matrices(export, function), ""]
    return "\n".join([*lines, "} // namespace eigen", f"}} // namespace {name}", "#endif", "", "#endif", ""])


def _on_arrays(export: Export, function: Function) -> Iterator[str]:
    """Return the lines of a function for std::array."""
    def kind(x: Array) -> str:
        return export.dialect.scalar if x.shape == () else f"std::array<{export.dialect.scalar}, {x.size}>"
    return _function(export, function, kind, lambda x: f"const {kind(x)} &")


def _on_matrices(export: Export, function: Function) -> Iterator[str]:
    """Return the lines of a function for Eigen matrices."""
    def kind(x: Array) -> str:
        rows, columns = (*x.shape, 1)[:2]
        return f"Matrix<{rows}, {columns}>"
    return _function(export, function, kind, lambda x: f"const Eigen::Ref<const {kind(x)}> &")


def _function(export, function, kind, reference):
    """Yield a function that calls the C function; kind(x) is the type of a result, reference(x) that of an argument."""
    name, scalar = identifier(function.name), export.dialect.scalar
    arguments = [f"{scalar} {identifier(x.name)}" if x.shape == () else f"{reference(x)}{identifier(x.name)}"
                 for x in function.inputs]
    results = [kind(x) for x in function.outputs]
    returned = results[0] if len(results) == 1 else f"std::tuple<{', '.join(results)}>"
    passed = [identifier(x.name) if x.shape == () else f"{identifier(x.name)}.data()"
              for x in (*function.inputs, *function.outputs)]
    yield f"// {comment(function.summary[0].upper() + function.summary[1:])}."
    yield from wrapped(f"inline {returned} {name}({', '.join(arguments)}) {{")
    yield from (f"  {line}" for x in function.outputs for line in wrapped(f"{kind(x)} {identifier(x.name)};"))
    yield from (f"  {line}" for line in wrapped(f"::{export.called(function)}({', '.join(passed)});"))
    names = [identifier(x.name) for x in function.outputs]
    yield f"  return {names[0]};" if len(names) == 1 else f"  return {{{', '.join(names)}}};"
    yield "}"
