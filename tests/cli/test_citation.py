"""CITATION.cff and codemeta.json say of the program what it says of itself. Argument: the path of the program."""

import json
import unittest

import yaml

from program import percuss


class Citation(unittest.TestCase):
    def setUp(self):
        with open("CITATION.cff") as file:
            self.citation = yaml.safe_load(file)

    def test_it_has_what_the_format_asks_for(self):
        for key in ("cff-version", "message", "title", "authors"):
            self.assertTrue(self.citation[key], key)
        self.assertEqual(self.citation["type"], "software")

    def test_version_and_licence_are_those_of_the_program(self):
        self.assertEqual("percuss " + self.citation["version"], percuss("--version").stdout.splitlines()[0])
        with open("README.md") as file:
            self.assertIn(self.citation["license"], file.read())

    def test_codemeta_says_the_same(self):
        with open("codemeta.json") as file:
            meta = json.load(file)
        self.assertEqual(meta["author"][0]["name"], self.citation["authors"][0]["name"])
        self.assertEqual(meta["license"].rpartition("/")[2], self.citation["license"])
        for key in ("version", "keywords"):
            self.assertEqual(meta[key], self.citation[key])


if __name__ == "__main__":
    unittest.main()
