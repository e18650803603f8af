"""Measurement of the network path to another machine, and its model for the simulator."""
