"""Puts library and program of the build folder, if there is one, into the package: a wheel works outside the tree."""

import os
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

BUILD = os.environ.get("PERCUSS_BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))


class WithLibrary(build_py):
    def run(self):
        super().run()
        for name in ("libpercuss.so.0", "percuss"):
            source = os.path.realpath(os.path.join(BUILD, name))
            if not os.path.isfile(source):  # the package looks for an installed library then
                continue
            os.makedirs(os.path.join(self.build_lib, "percuss", "lib"), exist_ok=True)
            shutil.copy2(source, os.path.join(self.build_lib, "percuss", "lib", name))


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": WithLibrary}, distclass=Binary)
