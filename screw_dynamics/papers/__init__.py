"""Results of the papers besides the recursions: their formulations, absolute coordinates, symbolic equations.
May import robot and the packages below it; nothing imports it."""
