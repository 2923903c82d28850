"""The C header: declarations with units, array layouts and sign conventions."""
from .layout import Export, block
from .printing import WIDTH, wrapped

ABOUT = """All numbers are in SI units and radians. Arrays have fixed sizes, matrices row after row. Twists and wrenches
are angular part first. Efforts are those of rigid bodies, gravity and rotors alone; friction is a function of its own.
Gravity is ({gravity}) m/s^2 in the frame of {root}{run_time}.

Functions keep nothing from call to call, allocate nothing, and may be called from several threads at once. Results may
be written over inputs. NaN and infinities propagate. Quaternions are x y z w, of any length but 0. Velocities of joints
of several degrees of freedom are twists in the moving frame: rx, ry and rz about its axes, then x, y and z along
them."""


def header(export: Export) -> str:
    """Return the contents of the header."""
    robot, name, upper = export.robot, export.name, export.name.upper()
    gravity = ", ".join(f"{x:g}" for x in robot.gravity)
    run_time = ", unless a function takes it" if any(
        x.name == "gravity" for function, _ in export.functions for x in function.inputs) else ""
    about = ABOUT.format(gravity=gravity, root=robot.model.root, run_time=run_time)
    lines = block([export.title, "", *(" ".join(part.split()) for part in about.split("\n\n")), "", "Joints:",
                   *(f"  {line}" for line in export.coordinates())])
    lines += [f"#ifndef {upper}_H", f"#define {upper}_H", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
              f"#define {upper}_JOINTS {len(robot.joint_names)} // names of joints",
              f"#define {upper}_NQ {robot.nq} // numbers of a configuration",
              f"#define {upper}_N {robot.n} // velocities, accelerations, efforts", "",
              "// In the order of the configuration.",
              f"extern const char *const {name}_joint_names[{upper}_JOINTS];", ""]
    for function, _ in export.functions:
        summary = function.summary[0].upper() + function.summary[1:]
        lines += block([f"{summary}.", *export.meanings(function)], hang="    ")
        lines += [*wrapped(f"{export.prototype(function)};", WIDTH), ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])
