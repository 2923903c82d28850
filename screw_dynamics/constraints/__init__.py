"""Robots with constrained coordinates: residuals, constrained dynamics, and bounded impulses of single joints: stops,
brakes and dry friction. All are rows of one Jacobian J, on one operator J M^-1 J^T.

  tables          tables of constraints for the recursions, and their memory
  ends            relative pose and motion of the frames that a loop joins
  rows            rows of each kind of constraint: wrenches without power on its free motions               [MK] table 1
  kinematics      residual, its gradient, Jacobian and drift of all constraints                             [MD] (77)
  min_norm        minimum-norm vector with given products, also rank-deficient; least squares
  box_lcp         impulses of rows within bounds, by pivoting
  cones           solver for contacts with friction and rows within bounds
  articulated     right factor of M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) by articulated bodies, O(n) a row
  mass_matrix     the same factor from the mass matrix, for joints with shared coordinates
  dynamics        accelerations, multipliers and wrenches; velocities after an impulse                      [MD] (77)
  hybrid_dynamics accelerations with some of them prescribed, and the efforts of these joints
  impulses        of constraints, and of joints within bounds
  contacts        contacts and their impulses in a step, with those of joints and loops
  chains          change of a loop's ends along its joints, and by their velocities                         [MD] (5)
  derivatives     of efforts and accelerations of constraints
  projection      after a step of an integrator: closed configurations, admissible velocities, impulses"""
