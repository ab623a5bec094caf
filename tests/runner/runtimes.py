# SPDX-License-Identifier: MIT
"""What hosts run on: the default and the others that scripts/get-node knows."""

import functools
import os
import subprocess

from build import ROOT

OTHERS = ('node22', 'node26', 'bun')


@functools.cache
def runtime(name=None):
    """The Node that hosts run on, or another runtime by name; fetched when it is not there yet. Not the one in PATH, which may be any."""
    if not name and os.environ.get('CODEWHALE_TEST_NODE'):
        return os.environ['CODEWHALE_TEST_NODE']
    command = [str(ROOT / 'scripts/get-node'), *(['--runtime', name] if name else [])]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]


def fetch(names):
    """All of them, one after the other, while something else goes on. What fails here fails again, and is told, where it is needed."""
    for name in (None, *names):
        try:
            runtime(name)
        except (OSError, subprocess.CalledProcessError, IndexError):
            return


def all_runtimes():
    """What the suite `escape` tries one after the other."""
    return {'CODEWHALE_TEST_RUNTIMES': ':'.join([runtime(), *map(runtime, OTHERS)])}
