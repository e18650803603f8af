"""What `import dumbbell` offers: running, reading results, tables for data frames, figures."""
