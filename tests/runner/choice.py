# SPDX-License-Identifier: MIT
"""Which tests to run."""

import fnmatch
import subprocess


class Choice:
    """All tests, or those that a word on the command line means."""

    def __init__(self, words):
        self.words = words

    def __call__(self, name):
        return not self.words or any(
            word in name or fnmatch.fnmatchcase(name, word) or fnmatch.fnmatchcase(name.split(':', 1)[1], word)
            for word in self.words)


def lines_of(command, **more):
    """Exit status and lines of a program that names its tests."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False, **more)
    return done.returncode, [line for line in done.stdout.splitlines() if line.strip()]
