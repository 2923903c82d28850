"""Faults that are planted in the package to see whether a test notices: `make planted`."""
