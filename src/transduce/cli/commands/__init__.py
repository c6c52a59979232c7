"""One file for each verb. What a verb needs is imported inside it, so that ``--help`` answers at once."""
