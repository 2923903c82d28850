"""Robots whose coordinates are constrained: where constraints hold, how robots move that keep them, and what acts on
single joints within bounds: stops, brakes and dry friction. All are rows of one Jacobian J, on one operator J M^-1 J^T.

  tables          what the recursions read of constraints, and their memory
  ends            how the frames that a loop joins lie and move relative to each other
  rows            the rows of each kind of constraint, wrenches that do no work along what it leaves free   [MK] table 1
  kinematics      residual, its gradient, Jacobian and drift of all constraints                             [MD] (77)
  shortest        the shortest vector with given products, of redundant ones too; least squares
  bounded         impulses of rows within bounds, by pivoting
  cones           contacts with friction, and rows within bounds: the solver of their impulses
  articulated     half of M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) by articulated bodies, O(n) for each row
  mass_matrix     the same of the mass matrix, where joints share coordinates
  dynamics        accelerations, multipliers and wrenches; velocities after an impulse                      [MD] (77)
  hybrid_dynamics accelerations where some joints have theirs prescribed, and the efforts of these
  impulses        of constraints, and of joints within bounds
  contacts        what touches, and its impulses in a step, with those of joints and loops
  chains          how the ends of a loop change along the joints between, and by their velocities            [MD] (5)
  derivatives     of efforts and accelerations of constraints
  projection      after a step of an integrator: closed configurations, admissible velocities, impulses"""
