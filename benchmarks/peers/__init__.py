"""The contestants: a module each, whose Peer(case) gives calls(states), {quantity: {variant: Call}}.

A variant is another way to the same result, such as with the output passed in; "" is the plain one."""
