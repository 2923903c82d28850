"""view_node, a live web page of the robot; markers_node, its joint screws and efforts for RViz; recorder_node, an MCAP
file of messages. The nodes that show a robot share `live_state`."""
