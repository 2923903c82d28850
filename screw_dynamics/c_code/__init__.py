"""Export of a robot's functions as straight-line C99 for real-time control: Robot.export_c.

tracing evaluates a robot's algorithms on numbers that record operations (compiled/tracing), with notes on the bodies.
functions describes exported functions; dynamics, kinematics and motion define them; quantities lists them. printing
converts operations to statements, with `sines` for all angles at once. header, source, wrapper, self_test, build_files
and readme create the files, with common data from layout. ros2_control is a ROS package around them, with
ros2_controller and ros2_solver in ros2_package. export checks arguments and writes all files. Imports forces and lower
layers."""
