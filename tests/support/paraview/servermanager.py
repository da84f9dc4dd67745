"""Gives what a source has read."""


def Fetch(source):
    return source.grid()
