# SPDX-License-Identifier: MIT
"""The real service, started from the build folder on a private bus with a home of its own."""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from codewhale.bus import NAME, BusError, Client

ROOT = Path(__file__).resolve().parents[3]
# Extensions with code of their own are off by default.
CONFIG = '[features]\nextension_host = true\n[trust]\nconfirm = "token"\n'


def build_folder():
    return Path(os.environ.get('CODEWHALE_BUILD') or ROOT / 'build')


def drop_capabilities():
    """A bench may look into processes; the service must not inherit that. PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL."""
    ctypes.CDLL(None).prctl(47, 4, 0, 0, 0)


class Daemon:
    """start() and stop() may be called any number of times; the home stays."""

    def __init__(self, address, config=CONFIG):
        self.address = address
        self.base = Path(tempfile.mkdtemp(prefix='codewhale-test-'))
        self.home = self.base / 'home'
        self.home.mkdir(mode=0o700)
        self.log_path = self.base / 'log'
        self.process = None
        self.options = []  # more words for its command line
        self.write_config(config)

    def write_config(self, text):
        """The configuration, and in it the runtime that the tests use."""
        runtime = os.environ.get('CODEWHALE_TEST_NODE')
        if runtime and '[extension_host]' not in text:
            text += f'[extension_host]\nnode = "{runtime}"\n'
        (self.home / 'config.toml').write_text(text)

    @staticmethod
    def program():
        return Path(os.environ.get('CODEWHALE_TEST_DAEMON') or build_folder() / 'codewhale-extensionsd')

    @classmethod
    def command(cls):
        """The service of the build folder with what belongs to it there."""
        return [str(cls.program()), f'--host-bundle={build_folder() / "host" / "codewhale-extension-host.mjs"}',
                f'--launcher={build_folder() / "sandbox" / "codewhale-host-launcher"}']

    def environment(self):
        return {**os.environ, 'DBUS_SESSION_BUS_ADDRESS': self.address, 'CODEWHALE_HOME': str(self.home)}

    def start(self, *more, seconds=20):
        """@more: options beside those that it always gets."""
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen([*self.command(), *self.options, *more], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment(), cwd='/', preexec_fn=drop_capabilities)
        self._wait_for_name(seconds)
        return self

    def _wait_for_name(self, seconds):
        client = Client(self.address)
        deadline = time.monotonic() + seconds
        try:
            while not client.call('org.freedesktop.DBus', 'NameHasOwner', '(s)', NAME, path='/org/freedesktop/DBus',
                                  name='org.freedesktop.DBus'):
                if self.process.poll() is not None:
                    raise RuntimeError(f'the service ended with {self.process.returncode}:\n{self.log()}')
                if time.monotonic() > deadline:
                    raise RuntimeError(f'the service did not take its name:\n{self.log()}')
                time.sleep(0.02)
            # It answers, too.
            client.property('', 'Version')
        except BusError as error:
            raise RuntimeError(f'{error}\n{self.log()}') from error
        finally:
            client.close()

    def log(self):
        return self.log_path.read_text(errors='replace') if self.log_path.exists() else ''

    def stop(self, seconds=20):
        """End it as systemd does; returns the exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f'the service did not stop:\n{self.log()}') from None
        finally:
            self.process = None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def remove(self):
        self.stop()
        subprocess.run(['chmod', '-R', 'u+rwX', str(self.base)], check=False, stderr=subprocess.DEVNULL)
        log = self.log()
        shutil.rmtree(self.base, ignore_errors=True)
        # A test that is done with the service does not look how it ended.
        if 'CODEWHALE_TEST_DAEMON' in os.environ and ('Sanitizer' in log or ' runtime error: ' in log):
            raise RuntimeError(log)
