"""A short part of the campaigns of tests/faults, of a few seconds; make faults does them all."""

import os
import subprocess
import sys
import unittest

from program import PROGRAM

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults")
IS_SANITIZED = b"__asan_init" in open(PROGRAM, "rb").read() or b"__tsan_init" in open(PROGRAM, "rb").read()


class Faults(unittest.TestCase):
    def campaign(self, name, tries):
        result = subprocess.run([sys.executable, os.path.join(FOLDER, name + ".py"), PROGRAM, f"{tries}n"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(" 0 failures", result.stdout)

    def test_no_body_passes_through_another(self):
        self.campaign("passing", 40)

    def test_beams_may_lie_along_each_other(self):
        self.campaign("parallel", 9)

    def test_streams_may_be_closed_or_full(self):
        self.campaign("streams", 1)

    def test_files_may_have_no_end(self):
        self.campaign("inputs", 1)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs all of the address space")
    def test_memory_may_be_limited(self):
        self.campaign("limits", 1)

    def test_numbers_may_make_no_sense(self):
        self.campaign("abuse", 20)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer takes the place of the allocator")
    def test_calls_may_fail(self):
        self.campaign("disk", 30)
        self.campaign("alloc", 30)


unittest.main()
