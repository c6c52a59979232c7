"""Learning: from batches to a trained model. Start with ``loop.py``; each step is in ``step.py``."""
