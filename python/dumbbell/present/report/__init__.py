"""What the reports of a results directory are made of, Pantheon's long form, and the page of one run."""
