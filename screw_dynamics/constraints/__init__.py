"""Robots whose coordinates are constrained: where constraints hold, how robots move that keep them, and what acts on
single joints within bounds: stops, brakes and dry friction. All are rows of one Jacobian J, on one operator J M^-1 J^T.

  tables          what the recursions read of constraints, and their memory
  ends            how the frames that a loop joins lie and move relative to each other
  rows            the rows of each kind of constraint, wrenches that do no work along what it leaves free   [MK] table 1
  kinematics      residual, its gradient, Jacobian and drift of all constraints                             [MD] (77)
  shortest        the shortest vector with given products, of redundant ones too; least squares
  bounded         impulses of rows within bounds, by pivoting
  cone_tables     contacts with friction, and rows within bounds: what is given and found, and its memory
  cones           impulses of these: sweeps, then Newton's method, and ADMM where that is lost
  sliding         the impulse of one contact that slides
  contact_blocks  what each contact needs of its own 3 x 3 block
  contact_sweeps  one contact after the other, each solved exactly
  contact_newton  all contacts at once, that stick, slide or open as a sweep found, or as their velocities say
  contact_admm    alternating directions
  contact_residuals  how far the conditions hold
  impacts         impacts with restitution, in rounds
  contact_solver  both at an address, compiled once
  contact_problems  both for arrays
  articulated     half of M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) by articulated bodies, O(n) for each row
  mass_matrix     the same of the mass matrix, where joints share coordinates
  dynamics        accelerations, multipliers and wrenches; velocities after an impulse                      [MD] (77)
  hybrid_dynamics accelerations where some joints have theirs prescribed, and the efforts of these
  impulses        of constraints, and of joints within bounds
  projection      after a step of an integrator: closed configurations, admissible velocities, impulses"""
