"""Fixtures that give a test a command, results, a clock or the machine; each is in a file below `support/`.

    dumbbell("show", "out")     runs the command in `folder`, the test's own directory  commands/command.py
    once("run", ...)            the same, shared by tests that begin alike
    start("run", ...)           starts it, and does not wait
    shelf.mixes                 a results directory that all tests read                 shelf.py
    clock                       time that the test turns by hand                        clock.py
    real_packets                a machine that carries real packets, or a skip          machine.py
    punctual(make)              repeats a real run that the machine was late for        punctual.py

`suites.py` says which tests are the gate. A test of another suite has its marker, or a fixture that brings it:
`@pytest.mark.real` for real packets, `pages` for documentation, `slow`, ... (`pytest --markers` lists them).
"""

pytest_plugins = [
    "support.session",
    "support.commands.command",
    "support.suites",
    "support.cpu_budget",
    "support.clock",
    "support.machine",
    "support.punctual",
    "support.shelf",
]
