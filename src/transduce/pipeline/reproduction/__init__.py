"""``transduce reproduce``: tables and figures of the paper, run and measured. Begin with ``tables.py`` or ``table1.py``."""
