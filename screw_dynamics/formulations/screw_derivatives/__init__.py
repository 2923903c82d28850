"""Acceleration, jerk, and derivatives of the joint screws of any order, by recursion and in closed form; [MD] 2."""
