# SPDX-License-Identifier: MIT
"""Counts results, shows progress and, in the end, what failed."""

import sys
import threading
import time

from tap import FAILED, PASSED, SKIPPED

SHOWN_LINES = 80


class Report:
    def __init__(self):
        self.counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self.failures = []
        self.durations = []  # of tests of programs that tell each result when it is there
        self.lock = threading.Lock()
        self.live = sys.stdout.isatty()

    def add(self, suite, result):
        with self.lock:
            self.counts[result.outcome] += 1
            if result.seconds is not None:
                self.durations.append((result.seconds, f'{suite}:{result.name}'))
            if result.outcome == FAILED:
                self.failures.append((f'{suite}:{result.name}', result.output))
                self._line(f'  FAILED  {suite}:{result.name}')

    def say(self, text):
        with self.lock:
            self._line(text)

    def status(self, text):
        """A line that the next one replaces; only for people who look on."""
        if self.live:
            with self.lock:
                print(f'\r\033[K{text}', end='', flush=True)

    def _line(self, text):
        print(('\r\033[K' if self.live else '') + text, flush=True)

    def finish(self, slowest=0):
        """Show the slowest tests, the failures and the counts; returns the exit status."""
        self.status('')
        for seconds, name in sorted(self.durations, reverse=True)[:max(slowest, 0)]:
            print(f'{seconds:8.1f} s  {name}')
        for name, output in self.failures:
            print(f'\n--- {name}')
            lines = output.splitlines()
            if len(lines) > SHOWN_LINES:
                print(f'(the last {SHOWN_LINES} of {len(lines)} lines)')
            print('\n'.join(lines[-SHOWN_LINES:]))
        if self.failures:
            print()
        if self.counts[SKIPPED]:
            print(f'{self.counts[SKIPPED]} skipped')
        print(f'{self.counts[PASSED]} passed, {self.counts[FAILED]} failed')
        return 1 if self.counts[FAILED] or not self.counts[PASSED] else 0


class Batch:
    """The results of one program, said in one line when it is through."""

    def __init__(self, report, suite, name):
        self.report, self.suite, self.name = report, suite, name
        self.counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self.began = time.monotonic()

    def add(self, result):
        self.counts[result.outcome] += 1
        self.report.add(self.suite, result)
        self.report.status(f'{self.suite} {self.name} {sum(self.counts.values())} {result.name[:60]}')

    def close(self):
        words = [f'{count} {word}' for word, count in self.counts.items() if count or word == PASSED]
        self.report.say(f'{self.suite:12} {self.name:32} {", ".join(words):24} {time.monotonic() - self.began:6.1f} s')
