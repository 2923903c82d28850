"""How callbacks of a node are carried out: in turns, guarded, fast for one subscription, or beside the executor."""
