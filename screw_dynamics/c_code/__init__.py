"""A robot's functions as C99, straight lines without loops over bodies, for loops in real time: Robot.export_c.

tracing: a robot on numbers that record operations (compiled/tracing), with notes of what belongs to which body;
functions says what is exported, dynamics, kinematics and motion which functions there are, by `quantities`; printing
makes statements of the record, with `sines` for all angles at once; header, source, wrapper, self_test, build_files and
readme are the files, of what layout holds; ros2_control is a package of ROS around them, with ros2_controller and
ros2_solver in ros2_package; export checks, and writes all. Imports forces and what is below."""
