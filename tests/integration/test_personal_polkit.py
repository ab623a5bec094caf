# SPDX-License-Identifier: MIT
"""What polkit can say beside yes and no. A real polkitd, whose answers come in tests/person, says these things only when something
is wrong; here a stand-in on a bus of its own says each. Only a polkit that is not there, or does not know our action, is
replaced by an approver (design 4.2): what a caller could bring about must not choose who is asked."""

import json
import os
from pathlib import Path

from codewhale import Client, PrivateBus, ServiceCase, iterate_until, options, tool_source
from codewhale.bus import Gio, GLib

FAILED = 'org.freedesktop.PolicyKit1.Error.Failed'
INTERFACE = '''<node><interface name="org.freedesktop.PolicyKit1.Authority">
<method name="CheckAuthorization"><arg type="(sa{sv})" direction="in"/><arg type="s" direction="in"/><arg type="a{ss}" direction="in"/>
<arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="(bba{ss})" direction="out"/></method>
<method name="CancelCheckAuthorization"><arg type="s" direction="in"/></method></interface></node>'''


class StandIn:
    """Answers as `say(invocation)` does; keeps the questions."""

    def __init__(self, address):
        self.client = Client(address)
        self.say = None
        self.questions, self.taken_back = [], []
        self.client.connection.register_object('/org/freedesktop/PolicyKit1/Authority', Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0],
                                               self._on_call, None, None)
        self.client.call('org.freedesktop.DBus', 'RequestName', '(su)', 'org.freedesktop.PolicyKit1', 4, path='/org/freedesktop/DBus',
                         name='org.freedesktop.DBus')

    def _on_call(self, _connection, _sender, _path, _interface, method, parameters, invocation):
        if method == 'CancelCheckAuthorization':
            self.taken_back.append(parameters.unpack()[0])
            invocation.return_value(None)
            return
        self.questions.append(parameters.unpack())
        if self.say:
            self.say(invocation)

    def leave(self):
        self.client.close()


def failing(name, message='it is so'):
    return lambda invocation: invocation.return_dbus_error(name, message)


def answering(allowed, challenge=False):
    return lambda invocation: invocation.return_value(GLib.Variant('((bba{ss}))', ((allowed, challenge, {}),)))


class BesideIt(ServiceCase):
    config = '[features]\nextension_host = true\n[trust]\nconfirm = "auto"\n'

    def prepare(self):
        self.system = PrivateBus()
        self.addCleanup(self.system.close)
        self.polkit = StandIn(self.system.address)
        self.addCleanup(self.polkit.leave)
        environment = self.daemon.environment
        self.daemon.environment = lambda: {**environment(), 'DBUS_SYSTEM_BUS_ADDRESS': self.system.address}

    def setUp(self):
        super().setUp()
        self.client.install(self.bundle('probe', tool_source("return 'hello'")))
        self.token = self.client.review('probe')['token']
        self.person = self.approver(lambda card: 'deny')


class Answers(BesideIt):
    def trust(self, client=None):
        return (client or self.client).start('Plugins', 'Trust', '(ssa{sv})', 'probe', self.token, {})

    def test_what_is_refused_at_once(self):
        for case, say in (
                ('a process that was replaced', failing(FAILED, 'process with PID 36 has been replaced')),
                ('a process that is gone', failing('org.gtk.GDBus.UnmappedGError.Quark._g_2dfile_2derror_2dquark.Code4')),
                ('a user that is not known', failing(FAILED, 'Cannot determine user of subject')),
                ('not allowed to ask', failing('org.freedesktop.PolicyKit1.Error.NotAuthorized')),
                ('taken back by another', failing('org.freedesktop.PolicyKit1.Error.Cancelled')),
                ('a bus without room', failing('org.freedesktop.DBus.Error.LimitsExceeded')),
                ('no reply', failing('org.freedesktop.DBus.Error.NoReply')),
                ('no', answering(False)), ('nobody there to authenticate', answering(False, True))):
            with self.subTest(case=case):
                self.polkit.say = say
                self.assertFails('NotAuthorized', self.trust().result)
        self.assertEqual(self.person.cards, [], 'none of these makes an approver the judge')
        self.assertEqual(self.client.property('Plugin', 'Trust', path=self.client.plugins()['probe'][1]), 'not-reviewed')

    def test_what_an_approver_decides_instead(self):
        for case, say in (('our action is not installed', failing(FAILED, 'Action org.codewhale.extensions.trust is not registered')),
                          ('nothing starts it', failing('org.freedesktop.DBus.Error.ServiceUnknown')),
                          ('its unit is masked', failing('org.freedesktop.systemd1.UnitMasked'))):
            with self.subTest(case=case):
                self.polkit.say = say
                asked = len(self.person.cards)
                self.assertFails('Denied', self.trust().result)
                self.assertEqual(len(self.person.cards), asked + 1)

    def test_subject_is_the_process_that_asked(self):
        self.polkit.say = answering(True)
        self.trust().result()
        (kind, subject), action, details, flags, cancellation = self.polkit.questions[0]
        self.assertEqual((kind, subject['pid'], subject['uid']), ('unix-process', os.getpid(), os.getuid()))
        self.assertEqual((action, details, flags), ('org.codewhale.extensions.trust', {}, 1))
        self.assertEqual(subject['start-time'], int(Path('/proc/self/stat').read_text().rsplit(')', 1)[1].split()[19]))
        self.assertTrue(cancellation)

    def test_polkit_that_dies_meanwhile(self):
        pending = self.trust()
        iterate_until(lambda: self.polkit.questions, what='the question')
        self.assertTrue(self.client.property('', 'Version'))
        self.polkit.leave()
        self.assertFails('NotAuthorized', pending.result)
        self.assertEqual(self.person.cards, [])

    def test_question_is_taken_back_when_its_caller_leaves(self):
        other = self.connect()
        self.trust(other)
        iterate_until(lambda: self.polkit.questions, what='the question')
        other.vanish()
        iterate_until(lambda: self.polkit.taken_back, what='the end of the question')
        self.assertEqual(self.polkit.taken_back, [self.polkit.questions[0][4]])


class Grants(BesideIt):
    """A grant wider than one call is a person's act too: an agent that is an approver by another connection can't give itself one."""

    def setUp(self):
        super().setUp()
        self.polkit.say = answering(True)
        self.client.trust('probe')
        self.client.plugin('Enable', 'probe')
        self.client.wait_for_tools('probe')
        self.person.decide = lambda card: None
        self.asked = len(self.polkit.questions)

    def waiting(self):
        seen = len(self.person.cards)
        call = self.client.start_tool('probe')
        iterate_until(lambda: len(self.person.cards) > seen, what='the card')
        return call, self.person.cards[-1]

    def answer(self, card, scope='tool', approver=None, digest=None):
        return (approver or self.person).start('Approvals', 'Answer', '(tssa{sv})', card['id'], 'allow', digest or card['digest'], options(scope=scope))

    def grants(self):
        return self.client.call('Grants', 'List')

    def records(self):
        return [(row['outcome'], row.get('result'), row.get('answered_by'))
                for row in json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(kind='grant')))]

    def test_refused_and_the_card_waits_on(self):
        call, card = self.waiting()
        for say in (answering(False), answering(False, True), failing(FAILED)):
            self.polkit.say = say
            self.assertFails('NotAuthorized', self.answer(card).result)
        self.assertEqual((self.grants(), call.done), ([], False))
        self.assertEqual(self.records(), [('refused', 'NotAuthorized', None)] * 3)
        # Once is what any approver may allow, and nobody is asked about that.
        asked = len(self.polkit.questions)
        self.answer(card, 'once').result()
        self.assertIn('hello', call.result())
        self.assertEqual((self.grants(), len(self.polkit.questions)), ([], asked))

    def test_confirmed(self):
        call, card = self.waiting()
        self.answer(card).result()
        self.assertIn('hello', call.result())
        self.assertEqual(len(self.grants()), 1)
        self.assertEqual(len(self.polkit.questions), self.asked + 1)
        self.assertEqual(sorted(outcome for outcome, _, _ in self.records()), ['confirmed', 'given'])
        self.assertIn(('confirmed', None, 'polkit'), self.records())
        # The grant answers from now on, without a question to anybody.
        self.client.tool('probe')
        self.assertEqual((len(self.person.cards), len(self.polkit.questions)), (1, self.asked + 1))

    def test_card_that_is_closed_meanwhile(self):
        self.polkit.say = None
        call, card = self.waiting()
        pending = self.answer(card)
        iterate_until(lambda: len(self.polkit.questions) > self.asked, what='the question')
        other = self.approver(lambda card: None)
        other.answer(card, 'deny')
        self.assertFails('Denied', call.result)
        self.assertFails('Withdrawn', pending.result)
        iterate_until(lambda: self.polkit.taken_back, what='the end of the question')
        self.assertEqual(self.grants(), [])

    def test_what_is_no_answer_bothers_nobody(self):
        call, card = self.waiting()
        stranger = self.connect()
        for error, pending in (('DigestMismatch', self.answer(card, digest='0' * 64)), ('InvalidArguments', self.answer(card, 'everything')),
                               ('NotApprover', self.answer(card, approver=stranger)),
                               ('NoSuchApproval', self.answer({**card, 'id': 4711}))):
            with self.subTest(error=error):
                self.assertFails(error, pending.result)
        self.assertEqual((len(self.polkit.questions), self.grants(), call.done), (self.asked, [], False))


class NoSystemBus(ServiceCase):
    """Without a system bus there is no polkit, and an approver decides."""
    config = BesideIt.config

    def prepare(self):
        environment = self.daemon.environment
        self.daemon.environment = lambda: {**environment(), 'DBUS_SYSTEM_BUS_ADDRESS': 'unix:path=/nonexistent/bus'}

    def test_an_approver_decides(self):
        self.client.install(self.bundle('probe', tool_source("return 'hello'")))
        person = self.approver(lambda card: 'deny')
        self.assertFails('Denied', self.client.trust, 'probe')
        self.assertEqual(len(person.cards), 1)

    def test_the_answer_of_an_approver_is_enough_for_a_grant(self):
        person = self.approver(lambda card: ('allow', 'tool') if card['kind'] == 'tool-call' else 'allow')
        self.client.bring_up(self.bundle('probe', tool_source("return 'hello'")))
        for _ in range(2):
            self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'hello')
        self.assertEqual([card['kind'] for card in person.cards], ['personal-act', 'tool-call'])
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
