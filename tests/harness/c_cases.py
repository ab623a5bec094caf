# SPDX-License-Identifier: MIT
"""The cases of a C test program (GTest) as unittest methods, for programs that need a system around them."""

import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def program_path(name):
    return Path(os.environ.get('CODEWHALE_BUILD', ROOT / 'build')) / 'tests' / 'sandbox' / name


def runtime():
    """A Node that is already there; nothing is installed from within a test."""
    if os.environ.get('CODEWHALE_TEST_NODE'):
        return os.environ['CODEWHALE_TEST_NODE']
    cache = Path(os.environ.get('CODEWHALE_CACHE', ROOT / 'build' / 'cache'))
    return next(map(str, sorted(cache.glob('node-*/node_modules/node-linux-*/bin/node'))), '')


def run_case(test, program, case):
    environment = {**os.environ, 'CODEWHALE_NODE': runtime()}
    done = subprocess.run([program, '-p', case], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace', env=environment, timeout=120, check=False)
    if done.returncode != 0:
        test.fail(done.stdout)
    skipped = re.search(r'^ok .*# SKIP ?(.*)$', done.stdout, re.MULTILINE)
    if skipped:
        test.skipTest(skipped[1] or 'skipped')
    if not re.search(r'^ok ', done.stdout, re.MULTILINE):
        test.fail(f'{case} did not run:\n{done.stdout}')


def cases_of(name, module):
    """A TestCase class of a module with one method for each case of tests/sandbox/NAME."""
    program = program_path(name)

    def method(case):
        return lambda test: run_case(test, program, case)

    def missing(test):
        test.fail(f'{program} is not built')

    listed = subprocess.run([program, '-l'], stdout=subprocess.PIPE, text=True, check=True).stdout if program.exists() else ''
    names = [line for line in listed.splitlines() if line.startswith('/')]
    methods = {'test_' + name.rsplit('/', 1)[1].replace('-', '_'): method(name) for name in names} or {'test_is_built': missing}
    return type('Sandbox', (unittest.TestCase,), {'__module__': module, **methods})
