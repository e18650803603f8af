"""External schemes: programs, plug-ins, the kernel and checkouts, and the check whether each can run here."""
