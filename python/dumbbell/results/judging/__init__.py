"""Judgements on the numbers of a benchmark, for its pages: rules, facts, checks."""
