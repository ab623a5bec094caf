# SPDX-License-Identifier: MIT
"""The service and its bus: who owns the name, the first call, a bus that ends or stands still, and answers that take long."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from codewhale import Client, Daemon, PrivateBus, ServiceCase, iterate_until, options, tool_source
from codewhale.bus import NAME, ROOT, BusError, GLib


class BusEnds(ServiceCase):
    def setUp(self):
        super().setUp()
        self.client.bring_up(self.bundle('probe', tool_source("if (input.wait) await new Promise((r) => setTimeout(r, input.wait)); return 'done'")))

    def test_DB_09_bus_that_ends_and_comes_back(self):
        """Sessions, grants and cards belong to connections of the bus that ended; hosts go with the service. It ends with a
        failure, so that systemd starts it anew, and on the new bus the name and the tools are there and no grant is."""
        self.approver(lambda card: ('allow', 'tool'))
        self.client.tool('probe')
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
        self.bus.process.kill()
        status = self.daemon.process.wait(20)
        self.assertEqual(status, 1, self.daemon.log())
        self.daemon.process = None
        self.assertEqual(self.units.wait_until_gone(), [])

        bus = PrivateBus()
        self.addCleanup(bus.close)
        self.daemon.address = bus.address
        self.daemon.start()
        self.addCleanup(self.daemon.stop)
        client = Client(bus.address)
        self.addCleanup(client.close)
        client.wait_for_tools('probe')
        self.assertEqual(client.call('Grants', 'List'), [])
        self.assertEqual(client.call('Sessions', 'List'), [])
        self.assertFails('NoApprover', client.tool, 'probe')

    def test_DB_13_bus_that_stands_still(self):
        """A minute without the bus: heartbeats of hosts do not go over it, so no plugin is ended, and the service goes on."""
        approver = self.approver(lambda card: ('allow', 'tool'))
        self.client.tool('probe')
        hosts = sorted(self.units.all_processes())
        self.assertTrue(hosts)
        os.kill(self.bus.process.pid, signal.SIGSTOP)
        try:
            time.sleep(60)
            self.assertIsNone(self.daemon.process.poll())
            self.assertEqual(sorted(self.units.all_processes()), hosts)
        finally:
            os.kill(self.bus.process.pid, signal.SIGCONT)
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'done')
        self.assertEqual(sorted(self.units.all_processes()), hosts)
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
        self.assertTrue(approver)

    def test_CA_07_tool_that_takes_longer_than_a_client_waits(self):
        """Start answers at once with a request; the result is its signal, whatever the time-out of the client's calls is."""
        self.approver()
        responses = self.client.signals('Request', 'Response')
        path = self.client.call('Tools', 'Start', '(ssa{sv})', 'probe', '{"wait": 40000}', {})
        self.assertTrue(path.startswith(ROOT + '/request/'))
        self.assertEqual(responses, [])
        with self.assertRaises((BusError, TimeoutError)):  # the same as one call, by a client that waits for 25 s
            self.client.call('Tools', 'Call', '(ssa{sv})', 'probe', '{"wait": 40000}', {}, seconds=25)
        outcome, results = responses.wait(seconds=60)
        self.assertEqual((outcome, json.loads(results['result'])['content'][0]['text']), (0, 'done'))


class Name(ServiceCase):
    def second(self):
        return subprocess.run(Daemon.command(), env=self.daemon.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=20, check=False)

    def request(self, client, flags):
        return client.call('org.freedesktop.DBus', 'RequestName', '(su)', NAME, flags, path='/org/freedesktop/DBus',
                           name='org.freedesktop.DBus')

    def test_DB_10_second_copy(self):
        second = self.second()
        self.assertEqual(second.returncode, 3, second.stdout)
        self.assertIn('is taken', second.stdout)
        self.assertTrue(self.client.property('', 'Version'))

    def test_DB_10_nobody_replaces_it(self):
        stranger = self.connect()
        self.assertEqual(self.request(stranger, 2 | 4), 3)  # replace, do not queue: it exists
        self.assertEqual(self.request(stranger, 2), 2)  # queued, behind it
        self.assertNotEqual(self.client.call('org.freedesktop.DBus', 'GetNameOwner', '(s)', NAME, path='/org/freedesktop/DBus',
                                             name='org.freedesktop.DBus'), stranger.unique_name)
        self.assertTrue(self.client.property('', 'Version'))

    def test_DB_10_stranger_who_has_the_name_first(self):
        """Also one who would let himself be replaced: the service takes no name away."""
        self.daemon.stop()
        stranger = self.connect()
        for flags in (4, 1 | 4):
            self.assertIn(self.request(stranger, flags), (1, 4))
            second = self.second()
            self.assertEqual(second.returncode, 3, second.stdout)
            self.assertIn('is taken', second.stdout)


class Activation(unittest.TestCase):
    """Started by the bus for its first call, as the activation file of an installed service has it."""

    def setUp(self):
        if not Daemon.program().exists():
            self.skipTest('nothing is built')
        self.daemon = Daemon('unix:path=/nowhere')  # a home and a configuration; the bus starts the service itself
        self.addCleanup(self.daemon.remove)
        self.folder = Path(tempfile.mkdtemp(prefix='codewhale-bus-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        services = self.folder / 'services'
        services.mkdir()
        (services / f'{NAME}.service').write_text(
            f'[D-BUS Service]\nName={NAME}\nExec={" ".join(self.daemon.command())} --home={self.daemon.home} --log-target=null\n')
        (self.folder / 'bus.conf').write_text(f'''<busconfig><type>session</type><listen>unix:dir={self.folder}</listen>
            <servicedir>{services}</servicedir><policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
            <allow own="*"/></policy></busconfig>''')
        self.process = subprocess.Popen(['dbus-daemon', f'--config-file={self.folder}/bus.conf', '--nofork', '--nopidfile', '--print-address=1'],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self._end_bus)
        self.address = self.process.stdout.readline().strip()

    def _end_bus(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def ask(self, client, interface, member, signature='()', *arguments):
        return client.connection.call_sync(NAME, ROOT, interface, member, GLib.Variant(signature, arguments), None, 0, 20000, None).unpack()

    def test_DB_11_call_that_comes_with_the_name(self):
        """All objects are there before the name is, so the call that started the service is answered, every time."""
        client = Client(self.address)
        self.addCleanup(client.close)
        for number in range(20):
            if number % 2:
                rows, = self.ask(client, f'{NAME}.Tools', 'List', '(a{sv})', {})
            else:
                rows, = self.ask(client, 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects')
            self.assertIsNotNone(rows)
            self.assertTrue(self.ask(client, 'org.freedesktop.DBus.Properties', 'Get', '(ss)', NAME, 'Version')[0])
            pid = client.call('org.freedesktop.DBus', 'GetConnectionUnixProcessID', '(s)', NAME, path='/org/freedesktop/DBus',
                              name='org.freedesktop.DBus')
            os.kill(pid, signal.SIGTERM)
            iterate_until(lambda: not client.call('org.freedesktop.DBus', 'NameHasOwner', '(s)', NAME, path='/org/freedesktop/DBus',
                                                  name='org.freedesktop.DBus'), what='the end of the service')


assert options
