"""The parts that all figures share: canvas, frame, axes, labels, strokes, and the way to SVG, PDF and PNG."""
