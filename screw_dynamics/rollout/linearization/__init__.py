"""Linear models of a robot's motion, in continuous time and over steps of the integrators, for arrays of states.

Deviations of configurations are along the joint twists: q exp(dq), which is q + dq for joints of one degree of freedom.
Imports simulation and the packages below it; a robot is passed as an argument."""
