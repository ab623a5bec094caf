# SPDX-License-Identifier: MIT
"""What goes over the bus during a call: nothing is asked of the bus, of polkit or of anybody for each call."""

from codewhale import Client, RulesCase, iterate_until, rule
from codewhale.bus import Gio


class Monitor:
    """Sees every message of the bus from now on."""

    def __init__(self, address):
        self.seen = []
        self.client = Client(address)
        self.client.call('org.freedesktop.DBus.Monitoring', 'BecomeMonitor', '(asu)', [], 0, path='/org/freedesktop/DBus',
                         name='org.freedesktop.DBus')
        # Only now: it takes every message, also the answer to that.
        self.client.connection.add_filter(self._on_message)

    def _on_message(self, connection, message, incoming):
        if not incoming:
            return message
        kind = message.get_message_type()
        self.seen.append((kind, message.get_sender(), message.get_destination(), message.get_interface(), message.get_member()))
        return None


class Traffic(RulesCase):
    CALLS = 50

    def setUp(self):
        super().setUp()
        self.approver(lambda card: ('allow', 'tool'))
        self.rules(user=rule('deny', tool='other') + rule('ask', tool='another'))
        self.tool_bundle()
        self.work = self.session(workspace=str(self.workspace('[[tools]]\ntool = "third"\n')))
        for _ in range(3):  # who calls is looked up once, and the first call asks a person
            self.client.tool('probe', session=self.work)
        self.service = self.client.call('org.freedesktop.DBus', 'GetNameOwner', '(s)', 'org.codewhale.Extensions',
                                        path='/org/freedesktop/DBus', name='org.freedesktop.DBus')

    def test_no_message_but_the_call_and_its_answer(self):
        monitor = Monitor(self.bus.address)
        self.addCleanup(monitor.client.close)
        for _ in range(self.CALLS):
            self.client.tool('probe', session=self.work)
        method_call, method_return = Gio.DBusMessageType.METHOD_CALL, Gio.DBusMessageType.METHOD_RETURN
        iterate_until(lambda: sum(kind == method_return for kind, *_ in monitor.seen) >= self.CALLS, what='the answers')
        calls = [row for row in monitor.seen if row[0] == method_call]
        self.assertEqual(len(calls), self.CALLS, calls[:10])
        self.assertEqual({(row[3], row[4]) for row in calls}, {('org.codewhale.Extensions.Tools', 'Call')})
        # The service asked nobody anything, and nobody but the caller was answered.
        self.assertEqual([row for row in calls if row[1] == self.service], [])
        answers = [row for row in monitor.seen if row[0] == method_return]
        self.assertEqual((len(answers), {row[2] for row in answers}), (self.CALLS, {self.client.unique_name}))
        # Records are announced together, not one a call, and so is what the calls before had changed.
        signals = [row for row in monitor.seen if row[0] == Gio.DBusMessageType.SIGNAL and row[1] == self.service]
        self.assertLess(len(signals), self.CALLS)
