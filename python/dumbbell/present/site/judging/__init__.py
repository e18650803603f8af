"""What the pages of a benchmark say of its numbers: rules, facts, checks."""
