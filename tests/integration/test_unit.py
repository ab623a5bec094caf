# SPDX-License-Identifier: MIT
"""The user unit and the D-Bus activation file as they are installed: the service works within its own walls, and they are real."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from codewhale import SAMPLES, Approver, build_folder, iterate_until
from codewhale.bus import BusError
from codewhale.installed import BARE, HOME, UNIT, InstalledCase
from codewhale.terminal import run
from codewhale.units import systemctl

# Tries what the walls refuse and what they let through; each line is a name and what came of it.
PROBE = '''
import ctypes, mmap, os, socket, sys
home = sys.argv[1]
def attempt(name, function):
    try:
        print(name, 'done', function() or '')
    except OSError as error:
        print(name, 'refused', error.strerror)
def touch(folder):
    path = os.path.join(folder, 'probe-of-the-walls')
    open(path, 'w').close()
    os.unlink(path)
def connect_abstract():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect('\\0probe-of-the-walls')
def unshare():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
attempt('own-folder', lambda: touch(home))
for name, folder in (('home', os.path.expanduser('~')), ('tmp', '/tmp'), ('runtime-folder', os.environ['XDG_RUNTIME_DIR']),
                     ('var', '/var/tmp'), ('shared-memory', '/dev/shm')):
    attempt(name, lambda: touch(folder))
attempt('groups', lambda: touch('/sys/fs/cgroup'))
attempt('internet', lambda: socket.socket(socket.AF_INET).close())
attempt('abstract', connect_abstract)
attempt('namespace', unshare)
attempt('executable', lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close())
attempt('reads-home', lambda: len(os.listdir(os.path.expanduser('~'))))
attempt('reads-tmp', lambda: len(os.listdir('/tmp')))
print('devices', 'done', sorted(set(os.listdir('/dev')) & {'mem', 'kmsg', 'fuse', 'kvm', 'sda', 'vda', 'rtc0'}))
print('users', 'done', open('/proc/self/uid_map').read().split())
'''
HELD = {'home': 'Read-only file system', 'tmp': 'Read-only file system', 'runtime-folder': 'Read-only file system',
        'var': 'Read-only file system', 'groups': 'Read-only file system', 'internet': 'Address family not supported by protocol',
        'abstract': 'Connection refused', 'namespace': 'Operation not permitted', 'executable': 'Operation not permitted'}


class Unit(InstalledCase):
    def ctl(self, *words):
        done = run(self.address, *words)
        self.assertEqual(done.returncode, 0, f'{words}: {done.stdout}{done.stderr}')
        return done.stdout

    def test_starts_calls_reloads_and_stops(self):
        """From nothing to a call, all of it by codewhalectl, in the walls of the installed unit."""
        systemctl('start', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active', self.journal())
        self.assertEqual((self.show('Slice'), self.show('WatchdogUSec')), ('codewhale.slice', '3min'))

        client = self.connect()
        approver = Approver(self.address)
        self.addCleanup(approver.close)
        source = Path(tempfile.mkdtemp()) / 'counter'  # in /tmp, which the service reads and does not write
        self.addCleanup(shutil.rmtree, source.parent)
        shutil.copytree(SAMPLES / 'counter', source)
        self.ctl('install', str(source))
        review = json.loads(self.ctl('review', 'counter', '--json'))
        self.ctl('trust', 'counter', f'{review["content_hash"]}.{review["capability_hash"]}')
        self.ctl('enable', 'counter')
        client.wait_for_tools('mod_counter')
        self.assertEqual(json.loads(self.ctl('call', 'mod_counter', '{"label": "unit"}', '--json'))['structured']['count'], 1)
        host = json.loads(client.call('Plugins', 'Describe', '(s)', 'counter'))['host']['unit']
        self.assertEqual(self.show('ActiveState', host), 'active')
        self.assertIn(f'BoundBy={host}', systemctl('show', '-p', 'BoundBy', UNIT))

        systemctl('reload', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active')
        client.wait_for_tools('mod_counter')
        self.assertEqual(run(self.address, 'list').returncode, 0)

        systemctl('stop', UNIT)
        self.assertEqual((self.show('ActiveState'), self.show('Result')), ('inactive', 'success'))
        self.assertNotEqual(self.show('ActiveState', host), 'active', 'hosts go down with the service')

    def test_callers_have_a_name(self):
        """The walls hide which program another process runs; what it calls itself is still told."""
        systemctl('start', UNIT)
        self.connect().bring_up(SAMPLES / 'counter')
        records = json.loads(self.ctl('decisions', '--json', '--kind=trust'))
        self.assertEqual(records[-1]['who']['exe'], f'({Path("/proc/self/comm").read_text().strip()})')

    def test_walls_of_the_service(self):
        systemctl('start', UNIT)
        process = self.show('MainPID')
        status = Path(f'/proc/{process}/status').read_text()
        for line in ('NoNewPrivs:\t1', 'Seccomp:\t2', 'CapPrm:\t0000000000000000', 'CapEff:\t0000000000000000', 'CapBnd:\t0000000000000000',
                     'CapInh:\t0000000000000000', 'CapAmb:\t0000000000000000'):
            self.assertIn(line, status)
        self.assertEqual(Path(f'/proc/{process}/uid_map').read_text().split(), [f'{os.getuid()}', f'{os.getuid()}', '1'])
        for kind in ('user', 'net', 'ipc', 'mnt'):
            self.assertNotEqual(os.readlink(f'/proc/{process}/ns/{kind}'), os.readlink(f'/proc/self/ns/{kind}'), kind)

    def test_systemd_sets_up_every_wall(self):
        """It says so where it does not, in the journal, and goes on."""
        systemctl('start', UNIT)
        run_id = self.show('InvocationID')
        lines = subprocess.run(['journalctl', '--user', '-o', 'cat', f'USER_INVOCATION_ID={run_id}', '+', f'_SYSTEMD_INVOCATION_ID={run_id}'],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        self.assertTrue(any(line.startswith('Started ') for line in lines), lines)
        self.assertEqual([line for line in lines if 'ignoring' in line], [])

    def test_walls_from_inside(self):
        """Each directive does something: another program in the same walls, with what it may do as the control."""
        script, out = self.daemon.home / 'probe.py', self.daemon.home / 'probed'
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind('\0probe-of-the-walls')
        listener.listen()
        script.write_text(PROBE)
        self.install(command=f'/usr/bin/python3 -I {script} {self.daemon.home}',
                     change=lambda text: re.sub(r'(?m)^(Type|NotifyAccess|BusName|WatchdogSec|Restart)=.*$', '', text)
                     .replace('[Service]', f'[Service]\nType=oneshot\nStandardOutput=truncate:{out}\nStandardError=inherit'))
        systemctl('start', UNIT)
        said = out.read_text()
        found = {name: rest for name, rest in (line.split(' ', 1) for line in said.splitlines())}
        for name, why in HELD.items():
            self.assertEqual(found.get(name), f'refused {why}', said)
        for name in ('own-folder', 'reads-home', 'reads-tmp'):
            self.assertTrue(found[name].startswith('done'), said)
        self.assertEqual(found['devices'], 'done []')

    def test_first_start_makes_the_folder(self):
        shutil.rmtree(self.daemon.home)
        systemctl('start', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active', self.journal())
        self.assertEqual(self.daemon.home.stat().st_mode & 0o777, 0o700)

    def test_folder_that_cannot_be_made(self):
        """The service is not started without it; the unit that could not make it says why, and nothing is in the way afterwards."""
        shutil.rmtree(self.daemon.home)
        self.daemon.home.write_text('somebody keeps a file here')
        done = subprocess.run(['systemctl', '--user', 'start', UNIT], stderr=subprocess.PIPE, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((self.show('ActiveState'), self.show('Result', HOME)), ('inactive', 'exit-code'))
        self.assertEqual(self.daemon.home.read_text(), 'somebody keeps a file here')
        self.daemon.home.unlink()
        systemctl('start', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active', self.journal())

    def test_folder_behind_a_link(self):
        """No state is kept behind one; whoever wants something kept is told."""
        real = self.daemon.base / 'real'
        self.daemon.home.rename(real)
        self.daemon.home.symlink_to(real)
        systemctl('start', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active', self.journal())
        with self.assertRaises(BusError) as refused:
            self.connect().install(SAMPLES / 'counter')
        self.assertEqual(refused.exception.name, 'org.codewhale.Extensions.Error.IO')
        self.assertIn('is a link', refused.exception.message)
        self.assertFalse((real / 'plugins' / 'counter').exists())

    def test_impossible_walls(self):
        """Where they can't be set up the bare unit answers, and goes when the real one can start."""
        self.install(change=lambda text: f'{text}ReadWritePaths=/nonexistent\n')
        self.assertNotEqual(subprocess.run(['systemctl', '--user', 'start', UNIT], stderr=subprocess.DEVNULL, check=False).returncode, 0)
        self.assertEqual(self.show('ExecMainStatus'), '226')
        iterate_until(lambda: self.show('ActiveState', BARE) == 'active', what='the bare unit')
        self.assertTrue(json.loads(self.connect().call('', 'Doctor', seconds=60))['checks'])

        self.install()
        systemctl('start', UNIT)
        self.assertEqual((self.show('ActiveState'), self.show('ActiveState', BARE)), ('active', 'inactive'))

    def test_crashes_take_no_walls_away(self):
        self.install(command='/bin/false', change=lambda text: text.replace('RestartSec=1s', 'RestartSec=0'))
        subprocess.run(['systemctl', '--user', 'start', UNIT], stderr=subprocess.DEVNULL, check=False)
        iterate_until(lambda: self.show('Result', BARE) == 'exec-condition', what='that the bare unit is asked')
        self.assertNotEqual(self.show('ActiveState', BARE), 'active')

    def test_security_of_both_units(self):
        """What systemd thinks of them. What is left in the user's: comments in the unit say why."""
        for name, most in ((f'user-unit-{UNIT}', 1.2), (f'system-unit-{UNIT}', 1.5)):
            folder = Path(tempfile.mkdtemp())
            self.addCleanup(shutil.rmtree, folder)
            (folder / UNIT).write_text(re.sub(r'(?m)^ExecStart=.*$', 'ExecStart=true', (build_folder() / 'data' / name).read_text()))
            shown = subprocess.run(['systemd-analyze', 'security', '--no-pager', '--offline=yes', str(folder / UNIT)],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
            self.assertRated(name, shown, most)

    def test_security_of_the_running_unit(self):
        systemctl('start', UNIT)
        shown = subprocess.run(['systemd-analyze', '--user', 'security', '--no-pager', UNIT], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, check=False).stdout
        self.assertRated(f'the running {UNIT}', shown, 1.2)

    def assertRated(self, what, shown, most):
        found = re.search(r'exposure level .*: ([0-9.]+)', shown)
        self.assertTrue(found, shown)
        print(f'# systemd rates {what} {found[1]}, the most is {most}', flush=True)
        self.assertLessEqual(float(found[1]), most, shown)
