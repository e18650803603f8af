"""Parts that all figures share: canvas, frame, axes, labels, strokes, and conversion to SVG, PDF and PNG."""
