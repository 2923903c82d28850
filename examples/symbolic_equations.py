"""The equations of motion of the double pendulum of urdf/, with symbols for its numbers, as text, LaTeX and Python.

    python examples/symbolic_equations.py
"""

from pathlib import Path

from sympy import symbols

import screw_dynamics as sd

URDF = Path(__file__).parents[1] / "urdf" / "double_pendulum.urdf"


def main():
    robot = sd.Robot.from_urdf(URDF)
    c1, c2, l1 = symbols("c_1 c_2 l_1")
    # The rods hang down along -z; the second begins where the first ends. Thin: no inertia about their own axes.
    parameters = {
        "upper_rod": {"mass": "m_1", "com": (0, 0, -c1), "inertia": ("I_1", "I_1", 0)},
        "lower_rod": {"mass": "m_2", "com": (0, 0, -c2), "inertia": ("I_2", "I_2", 0), "origin": (0, 0, -l1)},
    }
    equations = sd.symbolic.equations_of_motion(robot, gravity="g", parameters=parameters, coordinates="q")
    print(equations.text())
    print()
    print(equations.latex())
    print()
    print(equations.python("double_pendulum"))

    effort = equations.function()
    numbers = {"I_1": 0.25, "I_2": 0.08, "c_1": 0.5, "c_2": 0.4, "g": 9.81, "l_1": 1.0, "m_1": 3.0, "m_2": 1.5}
    state = [0.3, -0.5], [0.7, 1.1], [-0.2, 0.4]
    print("in symbols:", *effort(*state, *(numbers[str(x)] for x in equations.parameters)))
    print("in numbers:", *robot.inverse_dynamics(*state))


if __name__ == "__main__":
    main()
