"""Acceleration, jerk, and derivatives of the joint screws of any order, by recursion and in closed form; [MD] 2.

body_fixed, spatial, hybrid and mixed hold the recursions, the brackets and the paper's formulas of each representation,
any_order what the brackets give in all of them."""
