"""``python -m transduce`` and ``torchrun -m transduce``: the same as the ``transduce`` command."""

from __future__ import annotations

from transduce.cli.main import main

if __name__ == "__main__":
    main()
