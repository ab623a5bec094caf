# SPDX-License-Identifier: MIT
"""codewhalectl as a person or a script runs it: with pipes, or in a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

from codewhale.bus import GLib, iterate_until
from codewhale.daemon import build_folder

SECONDS = 30
QUIET = 0.4  # longer than the silence that an approver wants around a key
READING = 0.7  # longer than nobody can read a card


def program():
    return build_folder() / 'cli' / 'codewhalectl'


def environment(address, **more):
    kept = {name: value for name, value in os.environ.items() if name not in ('NO_COLOR', 'PAGER', 'CODEWHALE_PAGER', 'TERM')}
    return {**kept, 'CODEWHALE_BUS_ADDRESS': address, 'TERM': 'xterm', 'CODEWHALE_PAGER': 'cat', **more}


class Done:
    """What came of a run."""

    def __init__(self, returncode, stdout, stderr):
        self.returncode, self.stdout, self.stderr = returncode, stdout, stderr


def run(address, *words, text=None, **more):
    """Run it to its end. Meanwhile the main loop goes on, so that approvers of the test answer."""
    with tempfile.TemporaryFile('w+') as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(text or '')
        given.seek(0)
        process = subprocess.Popen([str(program()), *words], stdin=given, stdout=out, stderr=err, env=environment(address, **more))
        try:
            iterate_until(lambda: process.poll() is not None, SECONDS, f'the end of {words}')
        finally:
            process.kill()
            process.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors='surrogateescape'))
        return Done(process.returncode, *texts)


def read_now(process):
    """What a process with a pipe, set not to block, has written by now."""
    try:
        return os.read(process.stdout.fileno(), 65536).decode(errors='replace')
    except BlockingIOError:
        return ''


def begin(address, *words):
    """Run it with pipes and go on."""
    return subprocess.Popen([str(program()), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=environment(address))


class Terminal:
    """Runs it in a terminal of its own."""

    def __init__(self, address, *words, **more):
        self.seen = ''
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execve(program(), [str(program()), *words], environment(address, **more))
        self.status = None

    def _read(self):
        while GLib.MainContext.default().iteration(False):
            pass
        readable, _, _ = select.select([self.master], [], [], 0.05)
        if not readable:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other side is gone
            return False
        self.seen += data.decode(errors='surrogateescape')
        return bool(data)

    def read_until(self, pattern, seconds=SECONDS):
        """What comes up to the pattern and with it; raises when it does not come."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.seen)
            if found:
                text, self.seen = self.seen[:found.end()], self.seen[found.end():]
                return text
            if time.monotonic() > deadline or (not self._read() and not re.search(pattern, self.seen)):
                raise AssertionError(f'{pattern!r} did not come, but:\n{self.seen}')

    def _wait(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._read():
            pass

    def read_for(self, seconds):
        """All that comes within a time."""
        self._wait(seconds)
        text, self.seen = self.seen, ''
        return text

    def type(self, text):
        os.write(self.master, text.encode())

    def press(self, key):
        """One key, pressed by somebody who has read what is there. Returns what came of it, which is still to be read."""
        self.read_for(READING)
        self.type(key)
        self._wait(QUIET)
        return self.seen

    def type_hidden(self, text):
        """As somebody who was asked for a password: who asks prints that first and hides what is typed then, which forgets what was
        typed in between."""
        deadline = time.monotonic() + SECONDS
        while self.echoes():
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f'what is typed stays visible:\n{self.seen}')
        self.type(text)

    def resize(self, columns, rows=50):
        """As a window does that is drawn to another width."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def _drain(self):
        """What a process that is gone had written before."""
        while select.select([self.master], [], [], 0)[0] and self._read():
            pass

    def wait(self, seconds=SECONDS):
        """The exit status, or the negative signal."""
        deadline = time.monotonic() + seconds
        while self.status is None:
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                self.status = os.waitstatus_to_exitcode(status)
                self._drain()
            elif time.monotonic() > deadline:
                raise AssertionError(f'it does not end:\n{self.seen}')
            else:
                self._read()
        return self.status

    def close(self):
        if self.status is None:
            try:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        os.close(self.master)
