"""Results as objects: whole directories, single runs, their metrics, means and figures."""
