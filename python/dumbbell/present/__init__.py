"""What people see of results: figures, reports and pages."""
