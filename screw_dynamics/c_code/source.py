"""The C source with the code of each function."""
from screw_dynamics.compiled.tracing import INPUT

from .functions import Function
from .layout import Export, block, printed
from .loops import Looped, lines_of
from .printing import SINES, Statements, comment, identifier, wrapped
from .sines import sines_and_cosines
from .tracing import Straight


def source(export: Export) -> str:
    """Return the contents of the source file."""
    functions = []
    for function, straight in export.functions:
        with printed(function):
            functions.append(definition(export, function, straight))
    calls = f"{export.name}_{SINES}("
    lines = [*block([export.title]), f'#include "{export.name}/{export.name}.h"', "", "#include <math.h>", "",
             *names(export), ""]
    if any(calls in line for function in functions for line in function):
        lines += [*sines_and_cosines(export.dialect), ""]
    for function in functions:
        lines += [*function, ""]
    return "\n".join(lines)


def definition(export: Export, function: Function, straight: Straight) -> list[str]:
    """Return the definition of a function."""
    model, inputs = export.robot.model, [identifier(x.name) for x in function.inputs]
    bodies = {0: f"The world, {comment(model.root)}"}
    for slot, (body, joint) in enumerate(zip(model.body_names, model.body_joints, strict=True), start=1):
        bodies[slot] = f"Body {slot}, {comment(body or 'inside a joint')}, moved by {comment(joint)}"
    outputs = [identifier(x.name) for x in function.outputs]
    used = {operation.operands[0].partition("[")[0] for operation in straight.operations if operation.symbol == INPUT}
    unused = [f"(void){name};" for name in inputs if name not in used]
    if isinstance(straight, Looped):
        before, lines = lines_of(straight, export.called(function), export.dialect, [*inputs, *outputs])
        about = [f"{function.summary[0].upper()}{function.summary[1:]}.", f"Algorithm: {straight.way}."]
        return [*before, *block(about, hang=""), *wrapped(f"{export.prototype(function)} {{"),
                *(f"  {line}" for line in (*unused, *lines)), "}"]
    results = [(f"{output}[{i}]", x) for output, result in zip(outputs, straight.results, strict=True)
               for i, x in enumerate(result.flat)]
    statements = Statements(straight.operations, results, straight.notes, export.dialect, bodies, [*inputs, *outputs])
    about = [f"{function.summary[0].upper()}{function.summary[1:]}.", f"Algorithm: {straight.way}."]
    if symbols := function.symbols.get(straight.way):
        about.append("Variables have the name of what they belong to, the number of the body, and the component; t "
                     f"are others. {symbols}")
    return [*block(about, hang=""), *wrapped(f"{export.prototype(function)} {{"),
            *(f"  {line}" for line in (*unused, *statements.lines)), "}"]


def names(export: Export) -> list[str]:
    """Return the definition of the array of joint names."""
    quoted = [f'"{_quoted(joint)}"' for joint in export.robot.joint_names]
    upper = export.name.upper()
    lines = (f"  {text}," for text in quoted)
    return [f"const char *const {export.name}_joint_names[{upper}_JOINTS] = {{", *lines, "};"]


def _quoted(text):
    """Return a text for a C string, byte by byte, with other than plain characters as octal escapes."""
    plain = set(range(32, 127)) - set(b'"\\?')
    return "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode())
