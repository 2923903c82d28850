"""Small helpers: checks of arguments, array adapters, lazy attributes, atomic writes."""
