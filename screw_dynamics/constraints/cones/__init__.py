"""The solver of contact problems: rows within bounds and friction cones on a Delassus operator.

  tables      inputs, results and memory
  blocks      factors of each contact's own rows
  sliding     a contact that slides
  sweeps      block Gauss-Seidel, each contact solved exactly
  newton      Newton's method on the active set: sticking, sliding and open contacts
  admm        the alternating direction method of multipliers
  residuals   residuals of the conditions
  solver      the combined method
  impacts     impacts with restitution
  at_address  the solver as machine code at an address
  problems    Python interface for arrays"""
