"""How a kernel becomes machine code, is kept on disk, and is found again: what it is compiled from, and users' own.
May import numbers; knows neither robots nor what the code computes."""
