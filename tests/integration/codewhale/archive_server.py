# SPDX-License-Identifier: MIT
"""A web server on this machine that hands out archives, over http or https with a certificate made on the spot."""

import http.server
import io
import ssl
import subprocess
import tarfile
import threading
import time
from pathlib import Path


def pack(folder, *, top='bundle-1.0/', extra=()):
    """A gzipped tar archive of a bundle's folder. extra: (name, kind or bytes, where to) of further members."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode='w:gz') as archive:
        if folder:
            archive.add(folder, arcname=top.rstrip('/') or '.')
        for name, kind, target in extra:
            member = tarfile.TarInfo(name)
            if isinstance(kind, bytes) and len(kind) != 1:
                member.size = len(kind)
                archive.addfile(member, io.BytesIO(kind))
                continue
            member.type, member.linkname = kind, target or ''
            archive.addfile(member)
    return packed.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split('?')[0]
        self.server.asked.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(path, (404, {}, b'nothing here'))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if isinstance(body, bytes):
            if 'Content-Length' not in headers:
                self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.end_headers()
        try:
            for part in body():
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:
            pass  # whoever asked had enough

    def log_message(self, *_):
        pass


class ArchiveServer:
    """pages: path -> (status, headers, bytes or a function that yields them)"""

    def __init__(self, certificates=None):
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.server.pages = {}
        self.server.asked = []
        self.scheme = 'http'
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificates)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = 'https'
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def asked(self):
        return self.server.asked

    def url(self, path, host='127.0.0.1'):
        return f'{self.scheme}://{host}:{self.server.server_port}{path}'

    def put(self, path, body, status=200, **headers):
        self.server.pages[path] = (status, {name.replace('_', '-'): value for name, value in headers.items()}, body)
        return self.url(path)

    def redirect(self, path, to, status=302):
        return self.put(path, b'', status, Location=to)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def slowly(body, pieces=8, pause=0.15):
    """A page that comes in pieces, so that there is time to look."""
    def parts():
        size = len(body) // pieces + 1
        for at in range(0, len(body), size):
            yield body[at:at + size]
            time.sleep(pause)
    return parts


def make_certificates(folder, name='localhost', address='127.0.0.1'):
    """An authority of our own and a certificate by it: (authority, certificate, key)."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    authority, key = folder / 'authority.pem', folder / 'authority.key'
    ours, ours_key, asked, extra = (folder / name for name in ('server.pem', 'server.key', 'server.csr', 'server.ext'))
    extra.write_text(f'subjectAltName=DNS:{name},IP:{address}\n')

    def openssl(*words):
        subprocess.run(['openssl', *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test authority', '-keyout', key, '-out', authority,
            '-addext', 'basicConstraints=critical,CA:TRUE')
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', f'/CN={name}', '-keyout', ours_key, '-out', asked)
    openssl('x509', '-req', '-in', asked, '-CA', authority, '-CAkey', key, '-CAcreateserial', '-days', '2', '-extfile', extra, '-out', ours)
    return authority, ours, ours_key
