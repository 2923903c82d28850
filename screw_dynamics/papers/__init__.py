"""Parts of the papers beside the recursions: their formulations, absolute coordinates, equations in symbols. May import
robot and all that it may; nothing imports it."""
