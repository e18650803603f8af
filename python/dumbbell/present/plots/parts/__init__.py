"""What figures are drawn with: canvas, frame, axes, labels, strokes, and the way to SVG, PDF and PNG."""
