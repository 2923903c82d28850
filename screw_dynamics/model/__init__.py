"""A robot as a tree of screws: the immutable Model, the ModelBuilder that checks it, joints of several degrees.
May import checks, numbers and screws."""
