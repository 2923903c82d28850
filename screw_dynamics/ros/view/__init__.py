"""view_node, a live web page of the robot; markers_node, its screws and efforts for RViz; recorder_node, a file of it
all. What they show, `live_state`, is theirs in common."""
