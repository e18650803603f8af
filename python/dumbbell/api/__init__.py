"""The library behind `import dumbbell`: running experiments, reading results, tables for data frames, figures."""
