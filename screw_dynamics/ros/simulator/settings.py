"""The parameters of simulator_node. config/simulator.yaml has the same parameters with their defaults."""

from screw_dynamics.scene.contact_model import MAX_CONTACTS
from screw_dynamics.simulator.lockstep import TRIGGERS
from screw_dynamics.simulator.setting import Setting, rows
from screw_dynamics.simulator.settings import JOINT_MODES, Settings

from ..node.drives import DRIVES
from ..node.parameters import FLOATING_BASE, SHARED
from .complaints import KINDS

AT_RUN_TIME = {"command_mode": "command_interfaces.<joint>"}    # what can be set while the node runs, in place of it
SETTINGS = (
    *SHARED,
    FLOATING_BASE,
    *(row._replace(read_only=True, at_run_time=AT_RUN_TIME.get(row.name, "")) for row in rows(Settings)),
    Setting("publish_rate", 100.0, "rate of joint_states and /clock in simulated time, rounded to whole steps", "Hz",
            lower=1e-3, upper=1e6, read_only=True),
    Setting("real_time_factor", 1.0, "simulated time per real time; 0: as fast as possible", "1", lower=0.0,
            upper=1e6, least=1e-6),
    Setting("start_paused", False, "wait for ~/set_pause or ~/step", read_only=True),
    Setting("publish_clock", False, "publish /clock and stamp with simulated time; false: stamp with the system's time "
            "at the start plus simulated time", read_only=True),
    Setting("lockstep", "", "publication after which simulated time waits for a command: joint_states for controllers "
                            "that answer every state, clock for controllers with a timer in simulated time; empty: "
                            "time does not wait", choices=TRIGGERS, read_only=True),
    Setting("lockstep_commands", 1, "messages on joint_commands and base_wrench to wait for, one of each controller",
            lower=0, read_only=True),
    Setting("strict", False, "treat warnings as errors: a message that is refused, or not used in full, ends the steps "
                             "in progress, and further steps fail until a reset; a robot for which a parameter has no "
                             "effect is refused", read_only=True),
    Setting("tolerate", (), f"kinds of warnings that strict ignores: {', '.join(KINDS)}", read_only=True),
    Setting("forces", (), "force elements that act on the robot (springs, drag, wrenches), each as JSON: "
            '`{"PointSpring": {"link": "tool0", "stiffness": 80.0}}`; docs/forces.md has the names', read_only=True),
    DRIVES,
    Setting("ground", False, "add the plane z = 0 of the root link as ground; the collision shapes of the description "
                             "can touch it", read_only=True),
    Setting("scene", "", "path of a scene file with the environment of the robot, or its text, if it contains a line "
                         "break; empty: none", read_only=True),
    Setting("friction", -1.0, "coefficient of friction of all surfaces of a scene without their own; below 0: that of "
            "the scene file, or 0.8", "1", upper=1e6, read_only=True),
    Setting("self_collisions", False, "enable contacts between links of the robot in a scene, except pairs that are "
                                      "always or never in contact in sampled configurations", read_only=True),
    Setting("max_contacts", MAX_CONTACTS, "largest number of contacts in a scene: an object that would exceed it is "
                                          "not spawned, and a robot that exceeds it stops until a "
                                          "reset", lower=1, upper=10_000,
            read_only=True),
    Setting("bumpers", (), "links, or objects, whose contacts are published on bumper/<link>",
            read_only=True),
    Setting("left_wheels", (), "joints of the wheels on the left of a base that cmd_vel drives, which turn forwards "
            "about its y axis", read_only=True),
    Setting("right_wheels", (), "joints of the wheels on the right", read_only=True),
    Setting("wheel_radius", 0.0, "radius of the wheels", "m", lower=0.0, read_only=True),
    Setting("wheel_separation", 0.0, "distance between the left and the right wheels", "m", lower=0.0,
            read_only=True),
    Setting("odom_frame", "odom", "the frame of the base's pose on odom, and on /tf", read_only=True),
    Setting("publish_tf", False, "publish the transform from odom_frame to a floating base on /tf", read_only=True),
    Setting("reset_clock", False, "~/reset and ~/reset_to restart simulated time at zero; false: it continues"),
    Setting("trajectory_groups", ("joint_trajectory_controller",), "groups of joints that follow trajectories, by "
            "<group>/follow_joint_trajectory and <group>/joint_trajectory; ['']: none", read_only=True),
    Setting("gripper_groups", (), "grippers of one joint each, with goals on <gripper>/gripper_cmd", read_only=True),
    Setting("trajectory_execution", "computed_torque", "reference of the servos on a trajectory: position, velocity "
                                                       "and acceleration (computed_torque), or position "
                                                       "only",
            choices=("computed_torque", "position_servo"), read_only=True),
    Setting("trajectory_rate", 100.0, "rate in simulated time of the checks of tolerances and goals, rounded to whole "
                                      "steps", "Hz", lower=1e-3, upper=1e6, read_only=True),
    Setting("action_monitor_rate", 20.0, "rate of feedback in simulated time, rounded to whole steps", "Hz", lower=1e-3,
            upper=1e6, read_only=True),
)
# For each joint, as <name>.<joint>; the default is that of the simulation.
INITIAL_POSITIONS = Setting("initial_positions", 0.0, "position of {joint} after a reset", "rad or m")
COMMAND_INTERFACES = Setting("command_interfaces", "", "the field of joint_commands that commands {joint}",
                             choices=JOINT_MODES)
