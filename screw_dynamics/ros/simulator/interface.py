"""The topics, services and actions of simulator_node."""

from ..node.interface import DESCRIPTION, DIAGNOSTICS, ODOMETRY, PUBLISHED_DESCRIPTION, Endpoint, Interface

STATE, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
MSG, SCENE = "screw_dynamics_interfaces/msg", "a scene (`ground` or `scene`)"
SRV, STANDARD, TRIGGER = "screw_dynamics_interfaces/srv", "simulation_interfaces/srv", "std_srvs/srv/Trigger"
BASE, GROUP, INSTALLED = "a floating base", "a group of `trajectory_groups`", "simulation_interfaces installed"
WHEELS = "`left_wheels` and `right_wheels`"
ENTITIES = f"{INSTALLED}, a version with entities"
GRIPPER = "a gripper of `gripper_groups`,"

INTERFACE = Interface(
    publishes=(
        Endpoint("joint_states", STATE, "positions, velocities and efforts as the sensors report them, of mimic joints "
                 "too, at `publish_rate`"),
        Endpoint("motor_states", STATE, "positions, velocities and torques of motors behind springs and of stiffness "
                                        "actuators, reflected to their joints", "drives, by parameter or description"),
        Endpoint("/clock", "rosgraph_msgs/msg/Clock", "simulated time", "`publish_clock: true`"),
        ODOMETRY._replace(description="pose of the base link in `odom_frame`, its twist in the base link's frame"),
        Endpoint("/tf", "tf2_msgs/msg/TFMessage", "the transform from `odom_frame` to the base link",
                 "a floating base, `publish_tf: true`, tf2_msgs installed"),
        Endpoint("wheel_odom", "nav_msgs/msg/Odometry", "odometry of the base from its wheels, without slip",
                 WHEELS),
        Endpoint("imu/<link>", "sensor_msgs/msg/Imu", "measurements of an IMU on the link, at `imu_rate`",
                 "a link of `imus`"),
        Endpoint("force_torque/<joint>", WRENCH, "the wrench that the child link exerts on its parent, in the child "
                 "link's frame, at `force_torque_rate`", "a joint of `force_torques`"),
        Endpoint("contacts", f"{MSG}/Contacts", "contacts, with points and forces, in the step that follows the "
                                                "state", SCENE),
        Endpoint("objects", f"{MSG}/ObjectStates", "pose and twist of all objects", SCENE),
        Endpoint("objects/<object>/pose", "geometry_msgs/msg/PoseStamped", "its pose", f"{SCENE} with "
                 "an object that moves"),
        Endpoint("bumper/<link>", "std_msgs/msg/Bool", "True if the link is in contact", f"{SCENE}, a link of "
                 "`bumpers`"),
        PUBLISHED_DESCRIPTION,
        DIAGNOSTICS,
    ),
    subscribes=(
        Endpoint("joint_commands", STATE, "efforts, velocities or positions, the field chosen for each joint; NaN or "
                 "an empty field: not commanded"),
        Endpoint("base_wrench", WRENCH, "the wrench that drives a floating base", BASE),
        Endpoint("cmd_vel", "geometry_msgs/msg/TwistStamped", "velocity (linear.x) and yaw rate (angular.z) of a base "
                 "on wheels", WHEELS),
        Endpoint("<group>/joint_trajectory", "trajectory_msgs/msg/JointTrajectory", "a trajectory to follow, as with "
                 "joint_trajectory_controller", GROUP),
        DESCRIPTION,
    ),
    serves=(
        Endpoint("~/step", f"{SRV}/Step", "make a number of steps of a paused simulation, and answer when they are "
                 "done"),
        Endpoint("~/set_pause", "std_srvs/srv/SetBool", "pause or resume simulated time"),
        Endpoint("~/reset", TRIGGER, "back to the initial positions, at rest"),
        Endpoint("~/reset_to", f"{SRV}/ResetTo", "to a given state"),
        Endpoint("~/apply_wrench", f"{SRV}/ApplyWrench", "apply a wrench to a link for a given time"),
        Endpoint("~/set_payload", f"{SRV}/SetPayload", "set the payload of a link, until it is replaced, or removed by "
                                                       "mass 0"),
        Endpoint("~/inject_fault", f"{SRV}/InjectFault", "inject a fault of a joint, a sensor or commands"),
        Endpoint("~/clear_faults", TRIGGER, "end all faults"),
        Endpoint("~/set_object", f"{SRV}/SetObject", "set pose and twist of an object of the scene"),
        Endpoint("~/spawn_object", f"{SRV}/SpawnObject", "add an object to the scene"),
        Endpoint("~/delete_object", f"{SRV}/DeleteObject", "remove an object from the scene"),
        Endpoint("~/set_friction", f"{SRV}/SetFriction", "set the friction of a link or an object"),
        Endpoint("~/connected", TRIGGER, "answer when publishers and subscribers of its topics are connected"),
        Endpoint("~/get_simulator_features", f"{STANDARD}/GetSimulatorFeatures", "the supported features of that "
                                                                                 "package",
                 INSTALLED),
        Endpoint("~/get_simulation_state", f"{STANDARD}/GetSimulationState", "playing, paused, stopped ...", INSTALLED),
        Endpoint("~/set_simulation_state", f"{STANDARD}/SetSimulationState", "play, pause, stop, quit", INSTALLED),
        Endpoint("~/reset_simulation", f"{STANDARD}/ResetSimulation", "reset state, time, or both", INSTALLED),
        Endpoint("~/get_entities", f"{STANDARD}/GetEntities", "the names of the robot and of the objects", ENTITIES),
        Endpoint("~/get_entities_states", f"{STANDARD}/GetEntitiesStates", "their poses and twists", ENTITIES),
        Endpoint("~/get_entity_state", f"{STANDARD}/GetEntityState", "pose and twist of one", ENTITIES),
        Endpoint("~/get_entity_info", f"{STANDARD}/GetEntityInfo", "robot, object that moves, or one that is fixed",
                 ENTITIES),
        Endpoint("~/set_entity_state", f"{STANDARD}/SetEntityState", "set pose and twist of an object", ENTITIES),
        Endpoint("~/spawn_entity", f"{STANDARD}/SpawnEntity", "add an object, as YAML in `resource_string`", ENTITIES),
        Endpoint("~/delete_entity", f"{STANDARD}/DeleteEntity", "take an object out", ENTITIES),
        Endpoint("~/step_simulation", f"{STANDARD}/StepSimulation", "make steps", INSTALLED),
    ),
    acts=(
        Endpoint("<group>/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory", "follow a trajectory, "
                 "as joint_trajectory_controller does", f"{GROUP}, control_msgs installed"),
        Endpoint("<gripper>/gripper_cmd", "control_msgs/action/GripperCommand", "open or close a gripper, as "
                 "gripper_action_controller does", f"{GRIPPER} of the type GripperCommand, control_msgs installed"),
        Endpoint("<parallel_gripper>/gripper_cmd", "control_msgs/action/ParallelGripperCommand", "open or close a "
                 "gripper, as parallel_gripper_action_controller does",
                 f"{GRIPPER} of the type ParallelGripperCommand, control_msgs installed"),
        Endpoint("~/simulate_steps", "simulation_interfaces/action/SimulateSteps", "make steps, with feedback after "
                 "each", INSTALLED),
    ))
