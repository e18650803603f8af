"""Importers of what other measurement tools write: flent, iperf 2, nuttcp, ss, and Chromium's NetLog."""
