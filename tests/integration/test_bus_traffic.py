# SPDX-License-Identifier: MIT
"""What goes over the bus during a call: nothing is asked of the bus, of polkit or of anybody for each call."""

from codewhale import Client, ClientCore, CoreCase, RulesCase, iterate_until, rule
from codewhale.bus import Gio
from test_personal_polkit import BesideIt, answering


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


METHOD_CALL, METHOD_RETURN = Gio.DBusMessageType.METHOD_CALL, Gio.DBusMessageType.METHOD_RETURN


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
        iterate_until(lambda: sum(kind == METHOD_RETURN for kind, *_ in monitor.seen) >= self.CALLS, what='the answers')
        calls = [row for row in monitor.seen if row[0] == METHOD_CALL]
        self.assertEqual(len(calls), self.CALLS, calls[:10])
        self.assertEqual({(row[3], row[4]) for row in calls}, {('org.codewhale.Extensions.Tools', 'Call')})
        # The service asked nobody anything, and nobody but the caller was answered.
        self.assertEqual([row for row in calls if row[1] == self.service], [])
        answers = [row for row in monitor.seen if row[0] == METHOD_RETURN]
        self.assertEqual((len(answers), {row[2] for row in answers}), (self.CALLS, {self.client.unique_name}))
        # Records are announced together, not one a call, and so is what the calls before had changed.
        signals = [row for row in monitor.seen if row[0] == Gio.DBusMessageType.SIGNAL and row[1] == self.service]
        self.assertLess(len(signals), self.CALLS)


class CoreTraffic(CoreCase):
    CALLS, EACH = 10, 5

    def test_one_message_to_the_core_for_each_core_call(self):
        self.approver(lambda card: ('allow', 'tool'))
        self.bring_up_asking()
        core = ClientCore(self.client, lambda name, arguments: {'content': []})
        core.register(self.session, [{'name': 'read', 'requirement': 'auto'}])
        arguments = {'calls': [{'name': 'read', 'input': {'n': number}} for number in range(self.EACH)], 'together': True}
        for _ in range(2):
            self.client.tool('ask', arguments, session=self.session)
        monitor = Monitor(self.bus.address)
        self.addCleanup(monitor.client.close)
        for _ in range(self.CALLS):
            self.client.tool('ask', arguments, session=self.session)
        every = self.CALLS * (1 + self.EACH)
        iterate_until(lambda: sum(kind == METHOD_RETURN for kind, *_ in monitor.seen) >= every, what='the answers')
        calls = [row[3:] for row in monitor.seen if row[0] == METHOD_CALL]
        self.assertEqual((calls.count(('org.codewhale.Extensions.Tools', 'Call')), calls.count(('org.codewhale.Extensions.Core', 'Call'))),
                         (self.CALLS, self.CALLS * self.EACH))
        self.assertEqual(len(calls), every)


class PolkitTraffic(BesideIt):
    def test_polkit_is_asked_about_the_grant_and_about_no_call(self):
        self.polkit.say = answering(True)
        self.client.trust('probe')
        self.client.plugin('Enable', 'probe')
        self.person.decide = lambda card: ('allow', 'tool')
        for _ in range(3):
            self.client.tool('probe')
        self.assertEqual(len(self.polkit.questions), 2, 'the trust and the grant')
        monitor = Monitor(self.system.address)
        self.addCleanup(monitor.client.close)
        for _ in range(20):
            self.client.tool('probe')
        self.person.decide = lambda card: 'allow'
        self.client.tool('probe', session=self.client.call('Sessions', 'Open', '(a{sv})', {}))
        self.assertEqual([row for row in monitor.seen if row[1] != 'org.freedesktop.DBus'], [])
        self.assertEqual(len(self.polkit.questions), 2)
