"""The topics of markers_node, view_node and recorder_node."""

from ..node.interface import DESCRIPTION, DIAGNOSTICS, ODOMETRY, PUBLISHED_DESCRIPTION, Endpoint, Interface

SHOWN = (
    Endpoint("joint_states", "sensor_msgs/msg/JointState", "joint positions"),
    Endpoint("<efforts>", "sensor_msgs/msg/JointState", "the displayed efforts, on the topic of the parameter "
                                                        "`efforts`", "`efforts` not empty"),
    ODOMETRY,
    Endpoint(DIAGNOSTICS.name, DIAGNOSTICS.kind, "of all nodes: displayed faults"),
    DESCRIPTION,
)
MARKERS = Interface(
    publishes=(
        Endpoint("~/markers", "visualization_msgs/msg/MarkerArray", "joint screws and centers of mass once a second, "
                 "efforts at `rate`, in the frames of the links"),
        PUBLISHED_DESCRIPTION,
        DIAGNOSTICS,
    ),
    subscribes=SHOWN)
VIEW = Interface(publishes=(PUBLISHED_DESCRIPTION, DIAGNOSTICS), subscribes=SHOWN)
RECORDER = Interface(
    publishes=(DIAGNOSTICS,),
    subscribes=(Endpoint("<topics>", "any", "the topics of the parameter `topics`, from their first publisher on"),))
