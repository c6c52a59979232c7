"""The Transformer of 2017 as a whole working system: from two text files to a trained translator."""
