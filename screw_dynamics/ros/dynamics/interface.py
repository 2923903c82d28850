"""The topics and services of dynamics_node."""

from ..node.interface import DESCRIPTION, DIAGNOSTICS, ODOMETRY, PUBLISHED_DESCRIPTION, Endpoint, Interface

STATE, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
TRAJECTORY, MATRIX = "trajectory_msgs/msg/JointTrajectory", "screw_dynamics_interfaces/msg/JointMatrix"
SRV = "screw_dynamics_interfaces/srv"
OTHERS = "sensor_msgs/msg/MultiDOFJointState"
OTHER_JOINTS = "joints of several degrees of freedom beside a floating base"
BASE, OBSERVER = "a floating base", "`external_torque: true`"

INTERFACE = Interface(
    publishes=(
        Endpoint("~/gravity", STATE, "effort g(q); the stamp is that of the joint state it belongs to"),
        Endpoint("~/coriolis", STATE, "effort C(q, q') q'"),
        Endpoint("~/inverse_dynamics", STATE, "effort M(q) q'' + C(q, q') q' + g(q), with q'' by "
                 "`acceleration_source`"),
        Endpoint("~/effort_commands", "std_msgs/msg/Float64MultiArray", "one of these three as bare numbers in the "
                 "order of `joints`, for a ForwardCommandController", "`effort_commands` other than `none`"),
        Endpoint("~/<term>/base_wrench", WRENCH, "of `gravity`, `coriolis` and `inverse_dynamics` each, the part of a "
                 "floating base, in the frame of its link", BASE),
        Endpoint("~/<term>/multi_dof_joints", OTHERS, "of the same each, and of `external_torque`, the wrenches on the "
                 "children of joints of several degrees of freedom, in the children's frames", OTHER_JOINTS),
        Endpoint("~/external_torque", STATE, "external efforts estimated by the momentum observer; NaN for a joint "
                                             "whose effort is not reported", OBSERVER),
        Endpoint("~/external_torque/base_wrench", WRENCH, "the same for a floating base",
                 f"{OBSERVER}, {BASE}"),
        Endpoint("~/contact", "std_msgs/msg/Bool", "True if an external torque exceeds "
                                                   "`external_torque_threshold`", OBSERVER),
        Endpoint("~/external_wrench", WRENCH, "the wrench at the origin of `external_wrench_link` that corresponds to "
                                              "them, in its frame", OBSERVER),
        Endpoint("~/trajectory_with_efforts", TRAJECTORY, "the trajectory of `~/trajectory`, with its efforts"),
        Endpoint("~/motor_feed_forward", STATE, "positions, velocities and efforts of the motors for the trajectory of "
                                                "`~/trajectory`, at the stamp of each joint state, with the joint "
                                                "names of commands",
                 "drives, by parameter or description"),
        Endpoint("~/mass_matrix", MATRIX, "M(q)", "`publish_mass_matrix: true`"),
        Endpoint("~/jacobian/<link>", MATRIX, "J(q) of a link against the root link, in `jacobian_representation`",
                 "a link of `jacobian_links`"),
        PUBLISHED_DESCRIPTION,
        DIAGNOSTICS,
    ),
    subscribes=(
        Endpoint("joint_states", STATE, "positions and velocities, and efforts for the observer: any order, extra "
                 "joints ignored, partial messages merged"),
        DESCRIPTION,
        ODOMETRY._replace(when="a floating base, `base_state_source: odometry`"),
        Endpoint("base_pose", "geometry_msgs/msg/PoseStamped", "the pose of a floating base",
                 "a floating base, `base_state_source: pose_and_twist`"),
        Endpoint("base_twist", "geometry_msgs/msg/TwistStamped", "its twist, in the frame that the header names",
                 "a floating base, `base_state_source: pose_and_twist`"),
        Endpoint("multi_dof_joint_states", OTHERS, "pose and twist of the children of joints of several degrees of "
                 "freedom, and wrenches for the observer: partial messages merged", OTHER_JOINTS),
        Endpoint("~/desired", TRAJECTORY, "its first point: the accelerations for inverse dynamics, with "
                 "`acceleration_source: topic`"),
        Endpoint("~/trajectory", TRAJECTORY, "a trajectory to be filled with efforts"),
    ),
    serves=(
        Endpoint("~/get_jacobian", f"{SRV}/GetJacobian", "6 x n of any link against any other, in four "
                 "representations, rows in either order; its time derivative"),
        Endpoint("~/get_mass_matrix", f"{SRV}/GetMassMatrix", "M(q)"),
        Endpoint("~/get_gravity", f"{SRV}/GetGravity", "g(q)"),
        Endpoint("~/get_coriolis", f"{SRV}/GetCoriolis", "C(q, q') q', and the matrix on request"),
        Endpoint("~/get_regressor", f"{SRV}/GetRegressor", "the torque regressor, and the parameters it belongs to"),
        Endpoint("~/inverse_dynamics", f"{SRV}/InverseDynamics", "efforts of a motion, with external wrenches, term by "
                 "term"),
        Endpoint("~/forward_dynamics", f"{SRV}/ForwardDynamics", "accelerations under efforts and external wrenches"),
        Endpoint("~/linearize", f"{SRV}/Linearize", "the equations of motion, linearized in continuous time or over a "
                 "step"),
        Endpoint("~/get_forward_kinematics", f"{SRV}/GetForwardKinematics", "the pose of any link"),
        Endpoint("~/solve_inverse_kinematics", f"{SRV}/SolveInverseKinematics", "joint positions within the limits at "
                 "which links have given poses"),
        Endpoint("~/get_joint_screws", f"{SRV}/GetJointScrews", "spatial and body-fixed joint screws, reference "
                 "poses"),
        Endpoint("~/set_payload", f"{SRV}/SetPayload", "set the payload of a link, which all later results include"),
        Endpoint("~/set_gravity", f"{SRV}/SetGravity", "the parameter `gravity`, as a service"),
        Endpoint("~/identify_payload", f"{SRV}/IdentifyPayload", "mass, center of mass and inertia of the payload of a "
                                                                 "link, with their uncertainty, from a recorded "
                                                                 "motion; needs `payload_recording`"),
        Endpoint("~/fill_trajectory_efforts", f"{SRV}/FillTrajectoryEfforts", "the efforts of a trajectory"),
        Endpoint("~/retime_trajectory", f"{SRV}/RetimeTrajectory", "the fastest motion along a trajectory within the "
                 "limits of velocities, efforts, accelerations and jerks"),
    ))
