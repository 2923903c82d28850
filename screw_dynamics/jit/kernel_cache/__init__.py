"""Machine code on disk: the dependencies of a kernel, the files that hold its code, and functions of users. May import
numbers; does not depend on robots or on the purpose of the code."""
