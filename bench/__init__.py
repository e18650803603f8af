"""How fast things are: every figure of docs/speed.md, measured side by side."""
