"""The comparison of the representations of twists: operations, times and accuracy. Not part of the package."""
