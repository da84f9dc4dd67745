"""CITATION.cff and codemeta.json say of the program what it says of itself. Argument: the path of the program."""

import unittest

import yaml

from program import percuss, read_file, read_json


class Citation(unittest.TestCase):
    def setUp(self):
        self.citation = yaml.safe_load(read_file("CITATION.cff"))

    def test_it_has_what_the_format_asks_for(self):
        for key in ("cff-version", "message", "title", "authors"):
            self.assertTrue(self.citation[key], key)
        self.assertEqual(self.citation["type"], "software")

    def test_version_and_licence_are_those_of_the_program(self):
        self.assertEqual("percuss " + self.citation["version"], percuss("--version").stdout.splitlines()[0])
        self.assertIn(self.citation["license"], read_file("README.md"))

    def test_codemeta_says_the_same(self):
        meta = read_json("codemeta.json")
        self.assertEqual(meta["author"][0]["name"], self.citation["authors"][0]["name"])
        self.assertEqual(meta["license"].rpartition("/")[2], self.citation["license"])
        for key in ("version", "keywords"):
            self.assertEqual(meta[key], self.citation[key])


unittest.main()
