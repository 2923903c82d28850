"""A robot's functions as C99, straight lines without loops over bodies, for loops in real time: Robot.export_c.

tracing: a robot on numbers that record operations (compiled/tracing), with notes of what belongs to which body;
functions says what is exported, dynamics, kinematics and motion which functions there are, by `quantities`; printing
makes statements of the record, with `sines` for all angles at once; header, source, wrapper, self_test, build_files and
readme are the files, of what layout holds; export checks, and writes them. Imports forces and what is below."""
