"""A real shell whose ``transduce`` is answered by the test process: torch is imported once for hundreds of commands.

``transduce`` on its path is a small program that hands its arguments, directory, variables and standard input over a
socket, and prints what comes back. All else (pipes, redirections, loops, other programs) is what the shell makes of it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from unittest import mock

from tests.cli import run_cli

__all__ = ["Shell", "ShellResult"]

_CLIENT = """#!{python} -IS
import json, os, socket, sys
call = {{
    "arguments": sys.argv[1:],
    "directory": os.getcwd(),
    "variables": {{name: value for name, value in os.environ.items() if name.startswith("TRANSDUCE_")}},
    "stdin": sys.stdin.buffer.read().decode("utf-8", "surrogateescape"),
}}
with socket.create_connection(("127.0.0.1", {port})) as connection:
    connection.sendall(json.dumps(call).encode())
    connection.shutdown(socket.SHUT_WR)
    answer = json.loads(b"".join(iter(lambda: connection.recv(65536), b"")))
sys.stdout.buffer.write(answer["out"].encode())
sys.stdout.flush()
sys.stderr.buffer.write(answer["err"].encode())
sys.exit(answer["code"])
"""


@dataclass(frozen=True)
class ShellResult:
    code: int
    out: str
    err: str


class Shell:
    """Runs scripts.

    Args:
        home: A directory for the program ``transduce``.
        adapt: Changes the arguments of a call before it is made.
    """

    def __init__(self, home: Path, adapt: Callable[[Sequence[str]], Sequence[str]]) -> None:
        self._home = home
        self._adapt = adapt

    def run(self, script: str, directory: Path, variables: Mapping[str, str]) -> ShellResult:
        """Run a script by bash, which stops at the first command that fails."""
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            server.settimeout(0.02)
            client = self._home / "transduce"
            client.write_text(_CLIENT.format(python=sys.executable, port=server.getsockname()[1]), encoding="utf-8")
            client.chmod(0o755)
            path = os.pathsep.join([str(self._home), str(Path(sys.executable).parent), os.environ["PATH"]])
            with subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=directory,
                env={**os.environ, **variables, "PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            ) as process:
                while process.poll() is None:
                    try:
                        connection, _ = server.accept()
                    except TimeoutError:
                        continue
                    with connection:
                        connection.settimeout(None)
                        self._answer(connection)
            texts = [_content(stream) for stream in (out, err)]
        return ShellResult(process.returncode, *texts)

    def _answer(self, connection: socket.socket) -> None:
        call = json.loads(b"".join(iter(lambda: connection.recv(65536), b"")))
        with chdir(call["directory"]), mock.patch.dict(os.environ, call["variables"]):
            result = run_cli(*self._adapt(call["arguments"]), stdin=call["stdin"].encode("utf-8", "surrogateescape"))
        connection.sendall(json.dumps({"out": result.out, "err": result.err, "code": result.code}).encode())


def _content(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()
