"""ccperf's command line and tables on our schemes, paths and runs."""
