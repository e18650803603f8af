"""What the network to another machine is like: measured, and as a path to simulate."""
