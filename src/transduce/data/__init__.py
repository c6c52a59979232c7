"""From a corpus to batches: the token store, how it is written, and which pairs make up each step."""
