"""``transduce doctor``."""

from __future__ import annotations

from transduce.cli.options import JsonOption

__all__ = ["doctor_command"]


def doctor_command(as_json: JsonOption = False) -> None:
    """Say what this machine and this installation can do: versions, devices, optional packages."""
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.doctor import examine

    findings = examine()
    if as_json:
        print_json(findings)
    else:
        print_table("transduce doctor", list(findings.items()))
