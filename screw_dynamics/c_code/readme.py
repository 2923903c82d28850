"""The README.md of an export."""
from .functions import Function
from .layout import Export
from .printing import identifier

TEXT = """\
# <name>: dynamics of a robot in C

<title>

C99, one header and one source: copy `include/<name>/<name>.h` and `src/<name>.c` into a project, or build this folder.
Functions allocate nothing, keep nothing from call to call, and call nothing of the C library but `sin`, `cos` and
`sqrt`. They have no loops over bodies and no branches: for angles below <limit> rad each takes the same time each time.

```sh
cmake -B build && cmake --build build && ctest --test-dir build   # the test compares with recorded values
cmake --install build --prefix somewhere     # then find_package(<name>) and <name>::<name>, or pkg-config
cmake -B build -D<NAME>_NATIVE=ON -D<NAME>_BENCHMARK=ON           # for this processor; build/<name>_benchmark measures
```

```c
#include "<name>/<name>.h"

<use>
```

`include/<name>/<name>.hpp` has the same for C++17, on `std::array`, and on Eigen's matrices where Eigen is.

## Conventions
- SI units and radians. Arrays have fixed sizes; a matrix is row after row. Results may be written over inputs.
- Twists and screws are angular part first, wrenches torque first. Poses are homogeneous matrices.
- Efforts are positive in the direction in which a joint moves. `tau = M qdd + C qd + g - J^T W`: a wrench W on a link
  is what its surroundings do to it, torque about the origin of the link's frame and force, both in that frame.
- Efforts are those of rigid bodies, gravity and rotors alone; friction is a function of its own, and no other has it.
- NaN and infinities propagate. Quaternions are x y z w, of any length but 0; velocities of joints that have them are
  twists in the moving frame, angular part first.
- Without `<NAME>_NATIVE` and options like `-ffast-math`, results are the same bits on every processor with IEEE
  arithmetic, but for angles of many turns, which the C library reduces.

## Joints
The order of all arrays. The root is `<root>`.

| joint | q | velocities, accelerations, efforts | kind |
|---|---|---|---|
<joints>

## Functions
<functions>
"""


def readme(export: Export) -> str:
    """The text of README.md."""
    robot = export.robot
    joints = [f"| {joint} | {_places(robot.q_slices[joint])} | {_places(robot.v_slices[joint])} | "
              f"{robot.model.kind_of(joint)} |" for joint in robot.joint_names]
    joints += [f"| {joint} | follows {leader} | | |" for joint, (leader, *_) in robot.model.mimics.items()]
    functions = [line for function, _ in export.functions for line in _section(export, function)]
    title = export.title[len(export.name) + 2:]
    parts = {"name": export.name, "NAME": export.name.upper(), "title": title[0].upper() + title[1:],
             "root": robot.model.root, "joints": "\n".join(joints), "functions": "\n".join(functions).rstrip(),
             "limit": "1e6" if export.dialect.scalar == "double" else "8192",
             "use": "\n".join(_use(export, export.functions[0][0]))}
    text = TEXT
    for name, part in parts.items():
        text = text.replace(f"<{name}>", part)
    return text


def _places(s):
    return str(s.start) if s.stop - s.start == 1 else f"{s.start} to {s.stop - 1}"


def _section(export, function: Function):
    """What a function is, and its arguments."""
    yield f"### `{export.called(function)}`"
    yield f"{function.summary[0].upper()}{function.summary[1:]}."
    yield ""
    yield from (f"- {line}" for line in export.meanings(function))
    yield ""


def _use(export, function: Function):
    """An example of a call."""
    for x in (*function.inputs, *function.outputs):
        value = "" if x in function.outputs else " = {0}" if x.shape else " = 0"
        yield f"{export.dialect.scalar} {identifier(x.name)}{f'[{x.size}]' * bool(x.shape)}{value};"
    names = (identifier(x.name) for x in (*function.inputs, *function.outputs))
    yield f"{export.called(function)}({', '.join(names)});"
