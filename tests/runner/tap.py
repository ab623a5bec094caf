# SPDX-License-Identifier: MIT
"""Runs a program that speaks TAP (the Test Anything Protocol) and tells each result as soon as it is there."""

import re
import threading
import time
from dataclasses import dataclass

import processes

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'

_RESULT = re.compile(r'(not )?ok\b\s*(\d+)?\s*(?:- )?(.*)$')
_DIRECTIVE = re.compile(r'(.*?)\s*#\s*(SKIP|TODO)\b\s*(.*)$', re.IGNORECASE)
_PLAN = re.compile(r'1\.\.(\d+)')
KEPT_LINES = 200


@dataclass
class Result:
    name: str
    outcome: str
    output: str = ''
    seconds: float | None = None  # since the result before it


class Reader:
    """Turns lines of TAP into results. Whatever else a program prints belongs to the result that follows it."""

    def __init__(self):
        self.planned = None
        self.seen = 0
        self.complaint = None
        self.pending = []

    def feed(self, line):
        """The result that this line completes, or None."""
        found = _RESULT.match(line)
        if found:
            return self._result(bool(found[1]), found[3])
        plan = _PLAN.match(line)
        if plan:
            self.planned = int(plan[1])
        elif line.startswith('Bail out!'):
            self.complaint = line
        else:
            self.pending = self.pending[1 - KEPT_LINES:] + [line]
        return None

    def _result(self, bad, name):
        self.seen += 1
        output, self.pending = '\n'.join(self.pending), []
        directive = _DIRECTIVE.match(name)
        if directive and directive[2].upper() == 'SKIP':
            return Result(directive[1], SKIPPED, directive[3])
        return Result(name, FAILED if bad else PASSED, output if bad else '')

    def verdict(self, status):
        """What is wrong with the run as a whole, or None."""
        if self.complaint:
            return self.complaint
        if self.planned is not None and self.planned != self.seen:
            return f'{self.seen} results where {self.planned} were planned, exit status {status}'
        if self.planned is None and self.seen == 0:
            return f'no results, exit status {status}'
        return None


def run(command, name, on_result, environment=None, folder=None, seconds=300):
    """Run a command and call on_result() for each result; a run that went wrong gives one failed result more.

    The command gets no standard input, and is ended with its children after the given time."""
    reader = Reader()
    late = threading.Event()
    failed = False
    with processes.started(command, environment, folder) as process:
        def on_late():
            late.set()
            processes.end_group(process)

        timer = threading.Timer(seconds, on_late)
        timer.start()
        began = time.monotonic()
        try:
            for line in process.stdout:
                result = reader.feed(line.rstrip('\n'))
                if result:
                    now = time.monotonic()
                    result.seconds, began = now - began, now
                    failed = failed or result.outcome == FAILED
                    on_result(result)
            status = process.wait()
        finally:
            timer.cancel()
    complaint = f'ended after {seconds:g} s' if late.is_set() else reader.verdict(status)
    if not complaint and status != 0 and not failed:
        complaint = f'exit status {status} although every test passed'
    if complaint:
        on_result(Result(f'{name} (the program itself)', FAILED, '\n'.join(reader.pending + [complaint])))
