# SPDX-License-Identifier: MIT
"""The service as a program: its name, its interface, its log level, its end."""

import json
import subprocess
import unittest
from xml.etree import ElementTree

from codewhale import Daemon, ServiceCase
from codewhale.daemon import ROOT

XML = ROOT / 'data' / 'dbus'
ROOT_PATH = '/org/codewhale/Extensions'


def members(interface):
    """Everything of an interface that a caller can rely on."""
    found = set()
    for member in interface:
        if member.tag in ('method', 'signal'):
            default = 'in' if member.tag == 'method' else 'out'
            arguments = tuple((argument.get('direction', default), argument.get('type'), argument.get('name'))
                              for argument in member.findall('arg'))
            found.add((member.tag, member.get('name'), arguments))
        elif member.tag == 'property':
            emits = next((note.get('value') for note in member.findall('annotation')
                          if note.get('name') == 'org.freedesktop.DBus.Property.EmitsChangedSignal'), 'true')
            found.add(('property', member.get('name'), member.get('type'), member.get('access'), emits))
    return found


def interfaces(text):
    return {interface.get('name'): members(interface) for interface in ElementTree.fromstring(text).findall('interface')}


def written():
    found = {}
    for file in sorted(XML.glob('*.xml')):
        found.update(interfaces(file.read_text()))
    return found


class Interface(ServiceCase):
    def live(self, path):
        return interfaces(self.client.call('org.freedesktop.DBus.Introspectable', 'Introspect', path=path))

    def compare(self, path, names):
        live, paper = self.live(path), written()
        ours = {name: value for name, value in live.items() if name.startswith('org.codewhale.')}
        self.assertEqual(sorted(ours), sorted(names))
        for name in names:
            with self.subTest(interface=name):
                self.assertEqual(ours[name], paper[name])

    def test_root_is_what_the_xml_says(self):
        # Those of other objects, and the one that a client's core offers.
        objects = ('Approval', 'Plugin', 'Request', 'Session', 'Core')
        self.compare(ROOT_PATH, [name for name in written() if not name.endswith(tuple('.' + word for word in objects))])

    def test_plugin_and_session_are_what_the_xml_says(self):
        from codewhale import SAMPLES
        self.client.install(SAMPLES / 'counter')
        self.compare(self.client.plugins()['counter'][1], ['org.codewhale.Extensions.Plugin'])
        self.compare(self.client.call('Sessions', 'Open', '(a{sv})', {}), ['org.codewhale.Extensions.Session'])

    def test_every_string_is_documented(self):
        from xml.dom import minidom
        bare = []
        for file in sorted(XML.glob('*.xml')):
            for node in minidom.parse(str(file)).getElementsByTagName('interface'):
                before = node.previousSibling
                while before is not None and before.nodeType == before.TEXT_NODE:
                    before = before.previousSibling
                if before is None or before.nodeType != before.COMMENT_NODE:
                    bare.append(node.getAttribute('name'))
        self.assertEqual(bare, [])

    def test_describe_is_json(self):
        self.assertIsInstance(json.loads(self.client.call('', 'Describe')), dict)

    def test_log_level_can_be_changed(self):
        interface = 'org.freedesktop.LogControl1'
        path = '/org/freedesktop/LogControl1'
        self.client.call('org.freedesktop.DBus.Properties', 'Set', '(ssv)', interface, 'LogLevel', _s('debug'), path=path)
        self.assertEqual(self.client.property(interface, 'LogLevel', path=path), 'debug')
        with self.assertRaises(Exception):
            self.client.call('org.freedesktop.DBus.Properties', 'Set', '(ssv)', interface, 'LogLevel', _s('loud'), path=path)

    def test_second_copy_ends_with_a_clear_status(self):
        second = subprocess.run(Daemon.command(), env=self.daemon.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20, check=False)
        self.assertEqual(second.returncode, 3)
        self.assertIn('is taken', second.stdout)
        self.assertTrue(self.client.property('', 'Version'))

    def test_doctor_looks_at_everything(self):
        report = json.loads(self.client.call('', 'Doctor', seconds=60))
        self.assertTrue(report['checks'])
        for check in report['checks']:
            self.assertIn(check['verdict'], ('ok', 'warning', 'failed'), check)

    def test_H10_L01_doctor_tells_the_runtime_and_every_door(self):
        """Which runtime and why; and each door that a host tried behind the walls before it would run an extension."""
        report = json.loads(self.client.call('', 'Doctor', seconds=60))
        checks = {check['name']: check for check in report['checks']}
        self.assertRegex(checks['runtime']['found'], r'^Node [0-9.]+ at /.*, as configured$')
        lock = checks['lock']
        self.assertEqual(lock['verdict'], 'ok', lock)
        self.assertEqual(len(set(lock['doors'])), len(lock['doors']))
        self.assertIn(f'{len(lock["doors"])} doors of node ', lock['found'])
        for door in ('process.dlopen', 'process.execve', 'eval', '__proto__', 'node:sqlite', 'node:ffi', 'permission child', 'permission worker',
                     'import data:text/javascript,0', 'module.registerHooks'):
            self.assertIn(door, lock['doors'])
        self.assertFalse(json.loads(self.client.call('', 'Describe'))['runtime']['pinned'], 'to look decides nothing')

    def test_unknown_method_and_wrong_signature(self):
        with self.assertRaises(Exception) as caught:
            self.client.call('Tools', 'Nothing')
        self.assertEqual(caught.exception.name, 'org.freedesktop.DBus.Error.UnknownMethod')
        with self.assertRaises(Exception) as caught:
            self.client.call('Tools', 'Call', '(s)', 'x')
        self.assertEqual(caught.exception.name, 'org.freedesktop.DBus.Error.InvalidArgs')

    def test_sessions_belong_to_their_opener(self):
        session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        stranger = self.connect()
        with self.assertRaises(Exception):
            stranger.call('Session', 'Close', path=session)
        closed = self.client.signals('Sessions', 'Closed')
        self.client.call('Session', 'Close', path=session)
        self.assertEqual(closed.wait(), (session,))

    def test_session_ends_with_its_connection(self):
        visitor = self.connect()
        visitor.call('Sessions', 'Open', '(a{sv})', {})
        closed = self.client.signals('Sessions', 'Closed')
        visitor.close()
        closed.wait()


class Callers(ServiceCase):
    def busctl_in_unit(self, unit):
        """busctl as a program of that unit; returns its exit status and what it printed."""
        done = subprocess.run(
            ['systemd-run', '--user', '--quiet', '--wait', '--pipe', '--collect', f'--unit={unit}', '--', 'busctl',
             f'--address={self.bus.address}', 'get-property', 'org.codewhale.Extensions', '/org/codewhale/Extensions',
             'org.codewhale.Extensions', 'Version'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30, check=False)
        return done.returncode, done.stdout

    def test_from_inside_a_host_unit(self):
        """A plugin that got hold of the bus all the same is refused everything, even a property."""
        status, text = self.busctl_in_unit('codewhale-host-intruder-1.service')
        self.assertNotEqual(status, 0, text)
        self.assertIn("A plugin's host is not served", text)

    def test_from_inside_another_unit(self):
        status, text = self.busctl_in_unit('ordinary-client.service')
        self.assertEqual(status, 0, text)


class Bus(ServiceCase):
    def test_bus_that_goes_away_ends_the_service_and_its_hosts(self):
        from codewhale import SAMPLES
        self.client.bring_up(SAMPLES / 'counter')
        self.bus.process.kill()
        self.daemon.process.wait(20)
        self.daemon.process = None
        self.assertEqual(self.units.wait_until_gone(), [])


def _s(text):
    from gi.repository import GLib
    return GLib.Variant('s', text)


assert unittest
