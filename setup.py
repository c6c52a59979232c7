"""The one part of packaging that pyproject.toml cannot say: how the C++ is built, and how a wheel with it is named.

The library has a plain C ABI and is loaded with ctypes: it belongs to a kind of machine and to no version of Python. Without
a compiler the package is built without it, and translates through torch.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "src"))  # a build knows nothing of the directory that it runs in

from transduce.native import LIBRARY, build  # noqa: E402 (found there)

WORK = ROOT / "build" / "native"


class BuildNative(build_ext):
    """Compile the library in place of an extension module."""

    def get_ext_filename(self, fullname: str) -> str:
        """Return the path of the library: no version of Python is in its name."""
        return str(Path(*fullname.split(".")[:-1], LIBRARY.name))

    def build_extension(self, ext: Extension) -> None:
        """Build it, or say in one line why there is none."""
        target = Path(self.get_ext_fullpath(ext.name))
        try:
            build.build_library(target, work=WORK)
        except build.BuildError as error:
            target.unlink(missing_ok=True)  # of an earlier build
            reason, _, details = str(error).partition("\n")
            sys.stderr.write(details)
            self.warn(f"the native engine was not built ({reason}): translating will need torch")


class NameWheel(bdist_wheel):
    """Name a wheel for any Python 3 on this kind of machine; without the library, on any machine."""

    def run(self) -> None:
        """Build first, since only then it is known whether there is a library."""
        self.run_command("build")
        library = Path(self.get_finalized_command("build_ext").build_lib, "transduce", "native", LIBRARY.name)
        if not library.is_file():
            self.root_is_pure = True
            self.distribution.ext_modules = None
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        """Return the three parts of the tag."""
        _, _, machine = super().get_tag()
        return "py3", "none", machine


setup(
    ext_modules=[Extension("transduce.native.libtransduce", sources=[], optional=True)],
    cmdclass={"build_ext": BuildNative, "bdist_wheel": NameWheel},
)
