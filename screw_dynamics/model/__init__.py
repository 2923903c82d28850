"""A robot as a tree of screws: the immutable Model, its ModelBuilder, and joints of several degrees of freedom.
May import checks, numbers and screws."""
