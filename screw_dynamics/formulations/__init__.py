"""The formulations of the papers as functions of a robot: what a researcher lays beside the printed equations."""
