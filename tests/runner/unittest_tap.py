# SPDX-License-Identifier: MIT
"""Runs the Python tests of a folder and speaks TAP: unittest_tap.py FOLDER [--list] [NAME...]

A test is named module.Class.method without the "test_" of module and method, so that the id of a case stands in front."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def short_name(test):
    module, kind, method = test.id().rsplit('.', 2) if test.id().count('.') >= 2 else ('', '', test.id())
    return '.'.join(part for part in (module.removeprefix('test_'), kind, method.removeprefix('test_')) if part)


class TapResult(unittest.TestResult):
    """One line a test; what went wrong stands before it as comment."""

    def __init__(self):
        super().__init__()
        self.number = 0
        self.bad = 0
        self.wrong = []

    def startTest(self, test):
        super().startTest(test)
        self.wrong = []
        self.skipped_because = None

    def _note(self, test, error):
        self.wrong += self._exc_info_to_string(error, test).splitlines()

    def addError(self, test, err):
        self._note(test, err)
        # Errors of setUpClass() and the like come without a test around them.
        if not isinstance(test, unittest.TestCase):
            self._line(str(test), None)

    def addFailure(self, test, err):
        self._note(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.wrong.append(f'in {subtest}')
            self._note(test, err)

    def addSkip(self, test, reason):
        self.skipped_because = reason
        if not isinstance(test, unittest.TestCase):
            self._line(str(test), reason)

    def addUnexpectedSuccess(self, test):
        self.wrong.append('passed although it was expected to fail')

    def stopTest(self, test):
        self._line(short_name(test), self.skipped_because)
        super().stopTest(test)

    def _line(self, name, skipped_because):
        self.number += 1
        for line in self.wrong:
            print(f'# {line}')
        bad, self.wrong = bool(self.wrong), []
        self.bad += bad
        skip = f' # SKIP {skipped_because}' if skipped_because is not None and not bad else ''
        print(f'{"not ok" if bad else "ok"} {self.number} {name}{skip}', flush=True)


def main():
    folder, *words = sys.argv[1:]
    sys.path.insert(0, folder)
    loader = unittest.TestLoader()
    tests = list(flatten(loader.discover(folder, 'test_*.py', top_level_dir=folder)))
    broken = [test for test in tests if type(test).__name__ == '_FailedTest']
    if '--list' in words:
        for error in loader.errors:
            print(error, file=sys.stderr)
        print('\n'.join(short_name(test) for test in tests))
        return 1 if broken else 0

    chosen = [test for test in tests if not words or short_name(test) in words or test in broken]
    result = TapResult()
    unittest.TestSuite(chosen).run(result)
    print(f'1..{result.number}')
    return 1 if result.bad else 0


if __name__ == '__main__':
    sys.exit(main())
