"""The paper's numbers, runs and figures."""
