"""Errors, settings, files and the logger: what every other part stands on. Free of torch."""
