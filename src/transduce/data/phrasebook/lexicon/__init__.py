"""The words of the phrasebook, in tables by meaning: what can be eaten, worn, repaired, visited, and when."""
