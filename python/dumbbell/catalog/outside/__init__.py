"""Schemes from outside: programs, plug-ins, the kernel and checkouts, and whether each can run here."""
