"""Table 1 of the reproduction of the Copa paper: Pantheon's logs of February 2018, which are not available."""

from validation.fidelity.published_check import Check

CHECK = Check("R4", "r04_pantheon_table", None)
