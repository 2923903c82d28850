"""Trees whose coordinates are constrained: where constraints hold, and how trees move that keep them.

  tables          what the recursions read of constraints, and their memory
  ends            how the frames that a loop joins lie and move relative to each other
  rows            the rows of each kind of constraint, wrenches that do no work along what it leaves free   [MK] table 1
  kinematics      residual, its gradient, Jacobian and drift of all constraints                             [PK]
  shortest        the shortest vector with given products, of redundant ones too
  articulated     half of M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) by articulated bodies, O(n) for each constraint
  mass_matrix     the same of the mass matrix, where joints share coordinates
  dynamics        accelerations, multipliers and wrenches; velocities after an impulse"""
