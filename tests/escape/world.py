# SPDX-License-Identifier: MIT
"""What there is to be reached: servers, files, processes of the user, another plugin. Each really is there, so that an attempt that
fails has failed at a wall. All of it is removed afterwards."""

import base64
import ctypes
import ctypes.util
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from codewhale import iterate_until

SLEEPER = '''
import ctypes, pathlib, signal, sys, time
for number, mark in ((signal.SIGUSR1, 'signalled'), (signal.SIGUSR2, 'answered')):
    signal.signal(number, lambda number, frame, mark=mark: pathlib.Path(sys.argv[3], mark).touch())
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1).value, 0, 0, 0)  # PR_SET_PTRACER_ANY: kernels with Yama ask for it
secret = ctypes.create_string_buffer(sys.argv[2].encode())
print(ctypes.addressof(secret), flush=True)
while True:
    time.sleep(3600)
'''


def serve(family, kind, address, answer):
    """A server that answers in a thread; returns what to close."""
    listening = socket.socket(family, kind)
    listening.bind(address)
    if kind == socket.SOCK_STREAM:
        listening.listen(16)

    def loop():
        while True:
            try:
                if kind == socket.SOCK_DGRAM:
                    data, sender = listening.recvfrom(4096)
                    listening.sendto(answer(data), sender)
                    continue
                connection, _ = listening.accept()
                with connection:
                    connection.settimeout(2)
                    connection.sendall(answer(connection.recv(4096)))
            except TimeoutError:
                continue
            except OSError:
                if listening.fileno() < 0:
                    return

    threading.Thread(target=loop, daemon=True).start()
    return listening


def name_answer(query):
    """10.0.0.1 for whatever was asked."""
    return query[:2] + b'\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00' + query[12:].split(b'\x00\x00\x29')[0][:query[12:].index(b'\0') + 5] + \
        b'\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x01'


class Servers:
    """Sockets of every kind that a plugin might find."""

    def __init__(self, folder, secret):
        self.secret = secret.encode()
        self.abstract = f'escape-{secret[:16]}'
        # Lets a name that begins with a letter be told from a path. The leading NUL makes it abstract.
        local, stream, datagram = socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
        self.path = str(folder / 'listening')
        self.all = [serve(local, stream, self.path, lambda data: b'hello'),
                    serve(local, stream, f'\0{self.abstract}', lambda data: b'hello')]
        here = ('127.0.0.1', 0)
        self.ports = {
            'tcp': self._add(socket.AF_INET, stream, here, lambda data: b'hello'),
            'http': self._add(socket.AF_INET, stream, here, self.page),
            'udp': self._add(socket.AF_INET, datagram, here, lambda data: b'hello'),
            'dns': self._add(socket.AF_INET, datagram, here, name_answer),
        }
        try:
            self.ports['tcp6'] = self._add(socket.AF_INET6, stream, ('::1', 0), lambda data: b'hello')
        except OSError:
            self.ports['tcp6'] = 0

    def _add(self, family, kind, address, answer):
        server = serve(family, kind, address, answer)
        self.all.append(server)
        return server.getsockname()[1]

    def page(self, request):
        """A page with the secret; or the handshake of a web socket."""
        for line in request.split(b'\r\n'):
            if line.lower().startswith(b'sec-websocket-key:'):
                key = line.split(b':')[1].strip() + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
                return b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ' + \
                    base64.b64encode(hashlib.sha1(key).digest()) + b'\r\n\r\n'
        return b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' % (len(self.secret), self.secret)

    def close(self):
        for server in self.all:
            server.close()


class Shared:
    """Memory and a queue that other programs of the user share."""

    def __init__(self, mark):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.key = int(mark[-6:], 16) | 0x01000000
        self.segment = self.libc.shmget(self.key, 4096, 0o1600)  # IPC_CREAT
        self.queue = f'/escape-{mark[-12:]}'
        self.real_time = ctypes.CDLL('librt.so.1', use_errno=True)
        self.descriptor = self.real_time.mq_open(self.queue.encode(), os.O_RDWR | os.O_CREAT, 0o600, None)

    def close(self):
        self.libc.shmctl(self.segment, 0, None)  # IPC_RMID
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.real_time.mq_unlink(self.queue.encode())


class World:
    """world.describe() is the JSON that every attempt gets."""

    def __init__(self):
        self.secret = secrets.token_hex(16)
        self.mark = f'escape-{secrets.token_hex(8)}'
        # Below the real home, which is what must be out of reach; but nothing of the user's is touched.
        self.home = Path.home() / f'.codewhale-{self.mark}'
        self.outside = Path(tempfile.mkdtemp(prefix='codewhale-escape-'))
        for folder in ('.ssh', '.config', 'workspace'):
            (self.home / folder).mkdir(parents=True, mode=0o700)
        for path in (self.home / '.ssh' / 'id_escape', self.home / 'workspace' / 'secret', self.outside / 'secret'):
            path.write_text(self.secret)
        self.servers = Servers(self.outside, self.secret)
        self.shared = Shared(secrets.token_hex(8))
        self.target = subprocess.Popen([sys.executable, '-c', SLEEPER, 'escape-target', self.secret, str(self.outside)], stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, 'ESCAPE_SECRET': self.secret})
        self.address = int(self.target.stdout.readline())

    def add_later_secret(self):
        (self.home / 'later').write_text(self.secret)

    def take_mark(self, name):
        """Whether the target left the file, which is then there no more. What it was sent until now it has handled before it answers."""
        os.kill(self.target.pid, signal.SIGUSR2)
        iterate_until(lambda: self._take('answered'), what='an answer of the target')
        return self._take(name)

    def _take(self, name):
        try:
            (self.outside / name).unlink()
        except FileNotFoundError:
            return False
        return True

    def describe(self, service, other, own):
        runtime = os.environ.get('XDG_RUNTIME_DIR', f'/run/user/{os.getuid()}')
        address = os.environ.get('DBUS_SESSION_BUS_ADDRESS', f'unix:path={runtime}/bus')
        return {
            'secret': self.secret, 'mark': self.mark, 'home': str(self.home), 'tmp': str(self.outside), 'outside': str(self.home),
            'workspace': str(self.home / 'workspace'), 'runtimeFolder': runtime, 'abstract': self.servers.abstract,
            'ports': self.servers.ports, 'machineId': Path('/etc/machine-id').exists(),
            'target': {'pid': self.target.pid, 'address': self.address}, 'shm': self.shared.key, 'queue': self.shared.queue,
            'service': service, 'other': other, 'own': own,
            'sockets': {
                'bus': service['bus'], 'session': address.partition('path=')[2].partition(',')[0] or f'{runtime}/bus',
                'system': '/run/dbus/system_bus_socket', 'manager': f'{runtime}/systemd/private', 'notify': f'{runtime}/systemd/notify',
                'journal': '/run/systemd/journal/stdout', 'tmp': self.servers.path,
            },
        }

    def sleepers(self):
        """Processes that an attempt left behind, by the mark in their command line."""
        found = []
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                words = (folder / 'cmdline').read_bytes().split(b'\0')
            except OSError:
                continue
            if self.mark.encode() in words and b'-c' in words and b'escape-target' not in words:
                found.append(int(folder.name))
        return found

    def end_sleepers(self):
        for pid in self.sleepers():
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while self.sleepers() and time.monotonic() < deadline:
            time.sleep(0.02)

    def close(self):
        self.target.kill()
        self.target.wait()
        self.target.stdout.close()
        self.servers.close()
        self.shared.close()
        self.end_sleepers()
        Path(f'/dev/shm/{self.mark}').unlink(missing_ok=True)
        for folder in (self.home, self.outside):
            shutil.rmtree(folder, ignore_errors=True)


def read_rows(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()] if Path(path).exists() else []
