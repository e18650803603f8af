"""Stand-in for the package `helpers` of Pantheon."""
