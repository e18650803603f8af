"""How well the simulator reproduces measured runs: their paths, simulated runs beside them, causes of differences."""
