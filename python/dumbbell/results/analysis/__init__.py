"""What results say: means, comparisons, shares, and what stands beside published numbers."""
