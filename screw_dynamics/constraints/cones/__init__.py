"""The solver of contact problems: rows within bounds and friction cones on a Delassus operator.

  tables      what is given and found, and its memory
  blocks      what each contact needs of its own rows
  sliding     a contact that slides
  sweeps      Gauss and Seidel's method, each contact solved exactly
  newton      Newton's method on the contacts that stick, slide and are open
  admm        the alternating direction method of multipliers
  residuals   how far the conditions hold
  solver      all of them
  impacts     impacts with restitution
  at_address  the solver as machine code at an address
  problems    for arrays, in Python"""
