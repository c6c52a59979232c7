"""Finding and loading the compiled library. What its functions take and give is written where they are called."""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache
from pathlib import Path

from transduce.base.errors import NativeUnavailableError
from transduce.base.files import sha256_file
from transduce.native import LIBRARY

__all__ = ["LIBRARY_VARIABLE", "find_library", "library_sha256", "load_library"]

LIBRARY_VARIABLE = "TRANSDUCE_NATIVE_LIBRARY"
"""Environment variable with the path of another build of the library, such as one with sanitizers."""

_REMEDY = (
    "install transduce again with a C++ compiler at hand, or build it with 'python -m transduce.native.build'; "
    "or translate through torch with --set decode.engine=torch"
)


def find_library() -> Path | None:
    """Return the library's path; None: this installation was made without it.

    Raises:
        NativeUnavailableError: ``TRANSDUCE_NATIVE_LIBRARY`` names a file that is not there.
    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise NativeUnavailableError(
                f"{named}: no such library; correct the environment variable {LIBRARY_VARIABLE}"
            )
        return Path(named).resolve()
    return LIBRARY if LIBRARY.is_file() else None


@cache
def load_library() -> ctypes.CDLL:
    """Load the library, once in a process.

    Raises:
        NativeUnavailableError: It is missing, or is one for another kind of machine; the message is one sentence with what to do.
    """
    path = find_library()
    if path is None:
        raise NativeUnavailableError(f"the native engine was not built when transduce was installed; {_REMEDY}")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        machine = f"{platform.system()} {platform.machine()}"
        details = str(error).removeprefix(f"{path}: ").splitlines()[0]
        raise NativeUnavailableError(
            f"{path}: cannot be loaded on this machine, {machine} ({details}); {_REMEDY}"
        ) from None


@cache
def library_sha256() -> str:
    """Return the SHA-256 of the library that is loaded: another one may pack weights in another way.

    Raises:
        NativeUnavailableError: As :func:`load_library`.
    """
    return sha256_file(Path(load_library()._name))
