"""Both nodes on one graph, and what can happen to them: `make faults`, `make soak`, docs/architecture.md."""
