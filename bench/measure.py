# SPDX-License-Identifier: MIT
"""What the benches share: workers that are told what to measure, medians over passes, figures as JSON lines."""

import json
import os
import select
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get('CODEWHALE_BUILD') or ROOT / 'build')
# For what is to reach a disk
DISK = os.environ.get('CODEWHALE_BENCH_DISK', '/var/tmp')
MCP = BUILD / 'bench-mcp'
PASSES = int(os.environ.get('CODEWHALE_BENCH_PASSES', '7'))

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tests' / 'integration'))


def say(name, passes, goal=None, better='lower', digits=3):
    """One figure: the median of its passes."""
    print(json.dumps({'name': name, 'value': round(statistics.median(passes), digits), 'goal': goal, 'better': better,
                      'passes': [round(one, digits) for one in passes]}), flush=True)


def say_rooms(worker, folder):
    """A prompt snapshot, and a durable set of a plugin's storage against a plain durable replacement of a file in @folder"""
    say('prompt.snapshot.1024.p50_ms', [worker.ask('snapshot')['us'] / 1000 for _ in range(PASSES)], 1)
    rows = [worker.ask('set', folder) for _ in range(PASSES)]
    say('storage.set.plain_ratio', [row['us'] / row['plain_us'] for row in rows], 1.3)


def node():
    return os.environ['CODEWHALE_TEST_NODE']


class Worker:
    """A process that answers each line with one line of JSON."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **more)

    def ask(self, *words, meanwhile=None):
        """Send a line and wait for its answer; meanwhile() is called often, for who has to answer the worker's own calls."""
        self.process.stdin.write(' '.join(map(str, words)) + '\n')
        self.process.stdin.flush()
        while meanwhile and not select.select([self.process.stdout], [], [], 0.001)[0]:
            meanwhile()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f'{self.process.args[0]} ended with {self.process.wait()}')
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def memory_of(pid):
    """Resident and proportional size in MiB; the latter is None where we may not look."""
    status = dict(line.split(':', 1) for line in Path(f'/proc/{pid}/status').read_text().splitlines())
    try:
        rollup = Path(f'/proc/{pid}/smaps_rollup').read_text()
    except PermissionError:
        return int(status['VmRSS'].split()[0]) / 1024, None
    rows = dict(line.split(':') for line in rollup.splitlines()[1:])
    return tuple(int(rows[name].split()[0]) / 1024 for name in ('Rss', 'Pss'))
