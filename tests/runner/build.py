# SPDX-License-Identifier: MIT
"""Build trees and what meson knows about the tests in them."""

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import processes
from tap import FAILED, PASSED, Result

ROOT = Path(__file__).resolve().parents[2]


def processors():
    """How many processes may work at once: JOBS, or as many as there are processors for us."""
    return max(int(os.environ.get('JOBS') or len(os.sched_getaffinity(0))), 1)


@dataclass
class Program:
    """One test program of a build tree."""
    name: str         # room/module
    command: list
    environment: dict
    folder: str
    seconds: float
    speaks_tap: bool


@dataclass
class Tree:
    """One way to build the project. Building it is a test: warnings are errors."""
    folder: Path
    title: str
    environment: dict
    options: tuple

    def build(self, jobs=None):
        """A result named after the tree, and the seconds that it took; with at most so many processes."""
        began = time.monotonic()
        failure = self._configure() or self._call(['ninja', '-C', str(self.folder), '-j', str(jobs or processors())])
        return Result(self.title, FAILED if failure else PASSED, failure or ''), time.monotonic() - began

    def _configure(self):
        stamp, wanted = self.folder / 'options-of-the-runner', ' '.join(self.options)
        there = (self.folder / 'build.ninja').exists()
        if there and stamp.exists() and stamp.read_text(encoding='utf-8') == wanted:
            return ''
        command = ['meson', 'setup', str(self.folder), str(ROOT), *self.options]
        # An attempt that failed half-way may have left something; the second begins anew.
        failure = self._call([*command, '--reconfigure'] if there else command) and self._call([*command, '--wipe'])
        if not failure:
            stamp.write_text(wanted, encoding='utf-8')
        return failure

    def _call(self, command):
        status, output = processes.run(command, self.environment, ROOT)
        return f'{" ".join(command)}\n{output}' if status else ''

    def programs(self):
        """The test programs that meson knows, in its order."""
        done = subprocess.run(['meson', 'introspect', '--tests', str(self.folder)], stdout=subprocess.PIPE, check=True,
                              cwd=ROOT)
        return [self._program(test) for test in json.loads(done.stdout)]

    def _program(self, test):
        suite = test['suite'][0].split(':')[-1] if test['suite'] else ''
        return Program(
            name=f'{suite}/{test["name"]}' if suite and suite != 'codewhale-extensions' else test['name'],
            command=test['cmd'], environment=test['env'], folder=test['workdir'] or str(self.folder),
            seconds=max(float(test['timeout'] or 0), 60), speaks_tap=test['protocol'] == 'tap')


PLAIN = Tree(ROOT / 'build', 'gcc', {'CC': 'gcc', 'CXX': 'g++'}, ('-Dbuildtype=debugoptimized',))
SANITIZED = Tree(
    ROOT / 'build-asan', 'clang-sanitized', {'CC': 'clang', 'CXX': 'clang++'},
    ('-Dbuildtype=debugoptimized', '-Db_sanitize=address,undefined', '-Db_lundef=false', '-Dhost-bundle=true'))
