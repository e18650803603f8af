"""Parts of the reports of a results directory: Pantheon's long form, and the page of one run."""
