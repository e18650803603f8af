"""Importers of files from other measurement tools: flent, iperf 2, nuttcp, ss, and Chromium's NetLog."""
