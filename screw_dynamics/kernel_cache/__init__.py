"""Machine code on disk: what a kernel is compiled from, where its code is kept and found again; functions of users.
May import numbers; knows neither robots nor what the code computes."""
