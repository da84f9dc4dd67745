"""Skips the tests of scripts that this variant of the build is excused from: PERCUSS_EXCUSED lists them as
" kind_script:test ". Python reads this file by itself where its folder is on the path, as in variants."""

import os
import sys
import unittest


def skip_excused(run):
    def run_or_skip(self, result=None):
        script = os.path.abspath(sys.argv[0])
        program = os.path.basename(os.path.dirname(script)) + "_" + os.path.basename(script).removesuffix(".py")
        if f" {program}:{self._testMethodName} " in os.environ.get("PERCUSS_EXCUSED", ""):
            self.setUp = self.tearDown = lambda: None
            setattr(self, self._testMethodName, lambda: self.skipTest("excused"))
        return run(self, result)
    return run_or_skip


unittest.TestCase.run = skip_excused(unittest.TestCase.run)
