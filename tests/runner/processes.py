# SPDX-License-Identifier: MIT
"""Programs in a process group of their own, so that what they started ends with them: also when they are late or the run is broken off."""

import os
import signal
import subprocess
from contextlib import contextmanager

_running = set()


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@contextmanager
def started(command, environment=None, folder=None):
    """No input, and one stream of text for all that is said."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                          env={**os.environ, **(environment or {})}, start_new_session=True, text=True, errors='replace') as process:
        _running.add(process)
        try:
            yield process
        finally:
            _running.discard(process)
            end_group(process)


def run(command, environment=None, folder=None, seconds=None):
    """Exit status, and what was said; the status of a program that took too long is below zero."""
    with started(command, environment, folder) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end_group(process)
            output, _ = process.communicate()
            return -1, f'{output}\nended after {seconds:g} s'
        return process.returncode, output


def end_all():
    for process in list(_running):
        end_group(process)
