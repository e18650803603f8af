"""How right things are: beside published results, real implementations and real packets."""
