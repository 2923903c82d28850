"""Studies of time integration: the examples of [MT], which python -m studies draws. Not part of the package."""
