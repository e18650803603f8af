"""Judgements on the numbers of a benchmark, which its pages show: rules, facts, checks."""
