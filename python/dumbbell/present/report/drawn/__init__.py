"""The numbers that figures of a report draw."""
