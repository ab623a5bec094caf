# SPDX-License-Identifier: MIT
"""Ways to a wider grant, a higher posture, somebody else's session or a trusted bundle. All fail, and each leaves a record."""

from codewhale import iterate_until, options, tool_source
from codewhale.adversary import AdversaryCase
from codewhale.daemon import CONFIG


def _u(number):
    from gi.repository import GLib
    return GLib.Variant('u', number)


class Grants(AdversaryCase):
    def granted(self, scope, arguments=None, **more):
        """The person gives the other client a grant on a card of his, and leaves."""
        approver = self.approver(lambda card: ('allow', scope))
        self.client.tool('probe', arguments or {'a': 1}, **more)
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
        approver.vanish()
        iterate_until(lambda: self.client.property('', 'ApprovalCount') == 0, what='the end of all cards')

    def test_18_use_a_grant_of_somebody_else(self):
        """A grant is for one session, and a session for one connection."""
        self.granted('tool')
        self.assertFails('NoApprover', self.adversary.tool, 'probe', {'a': 1})
        self.recorded('call', 'no-approver')

    def test_19_call_in_the_session_that_has_the_grant(self):
        """A session of another connection is not even there."""
        session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.granted('tool', session=session)
        self.refused('NoSuchSession', self.adversary.tool, 'probe', {'a': 1}, session=session)

    def test_20_use_a_grant_for_other_arguments(self):
        """It names them; the order of their members is all that may differ."""
        approver = self.approver(lambda card: ('allow', 'arguments'))
        self.adversary.tool('probe', {'a': 1, 'b': 2})
        approver.vanish()
        iterate_until(lambda: not self.client.call('Approvals', 'List'), what='the end of all cards')
        self.assertIn('2', str(self.adversary.tool('probe', '{"b": 2, "a": 1}')))
        for arguments in ({'a': 1}, {'a': 1, 'b': 3}, {'a': 1, 'b': 2, 'c': 3}, {'a': '1', 'b': 2}, {'A': 1, 'b': 2}):
            self.assertFails('NoApprover', self.adversary.tool, 'probe', arguments)
            self.recorded('call', 'no-approver')

    def test_21_widen_a_grant_in_the_answer(self):
        """Only what the card offers can be given, for no longer than a grant may last; and a cut card offers nothing."""
        approver, call, card = self.waiting(self.adversary)
        for more in ({'scope': 'everything'}, {'scope': 'session'}, {'scope': 'tool', 'seconds': _u(2 ** 32 - 1)}, {'seconds': _u(60)}):
            self.refused('InvalidArguments', self.answer, approver, card, who=approver, **more)
        self.assertOpen(card, call)
        _, cut, large = self.waiting(self.adversary, {'a': 'x' * 40000}, approver)
        self.assertTrue(large['cut'])
        self.refused('InvalidArguments', self.answer, approver, large, who=approver, scope='tool')
        self.assertOpen(large, cut)
        self.assertEqual(self.client.call('Grants', 'List'), [])

    def test_22_keep_a_grant_over_an_update(self):
        """It was for the bytes that were reviewed; others ask again."""
        self.granted('tool')
        self.client.plugin('Disable', self.plugin)
        self.assertEqual(self.records(kind='grant')[0]['outcome'], 'ended')
        self.client.plugin('Uninstall', self.plugin)
        (self.bundles / 'probe' / 'native' / 'main.mjs').write_text(tool_source("return 'other bytes'"))
        self.client.bring_up(self.bundles / 'probe')
        self.assertFails('NoApprover', self.client.tool, 'probe', {'a': 1})
        self.recorded('call', 'no-approver', self.client)

    def test_23_name_the_tool_differently(self):
        """Case is all that may differ, and then it is the same tool and the same grant; no look-alike reaches it."""
        self.granted('tool')
        self.client.tool('PROBE', {'a': 1})
        self.assertTrue(self.recorded('call', 'allowed', self.client)['grant'])
        for name in ('probe ', ' probe', 'probe\u200b', 'рrobe', 'ext_probe', 'probe/'):
            self.refused('NoSuchTool', self.client.tool, name, {'a': 1}, who=self.client)

    def test_24_say_no_once_and_ask_again(self):
        """What a person denied for the session is not asked again: no card, no second try."""
        approver = self.approver(lambda card: ('deny', 'session'))
        for _ in range(3):
            self.assertFails('Denied', self.adversary.tool, 'probe', {'a': 1})
        self.assertEqual(len(approver.cards), 1)
        self.assertEqual(self.recorded('call', 'denied')['trace'][-1]['source'], 'session-denial')


class Sessions(AdversaryCase):
    def open(self, client=None, **more):
        return (client or self.adversary).call('Sessions', 'Open', '(a{sv})', options(**more))

    def set(self, what, word, session, client=None):
        return (client or self.adversary).call('Session', what, '(s)', word, path=session)

    def test_25_raise_the_posture_alone(self):
        """Full Access is a person's act: with nobody to ask it fails at once."""
        session = self.open()
        self.assertFails('NoApprover', self.set, 'SetPosture', 'full-access', session)
        self.recorded('posture', 'no-approver')
        self.assertEqual(self.posture(session), 'ask')

    def test_26_open_a_session_that_is_raised_already(self):
        """There is no way around the question by asking for it at the beginning, in no spelling."""
        for word in ('full-access', 'bypass', 'yolo', 'full_access'):
            self.refused('NotAuthorized', self.open, posture=word)

    def test_27_confirm_the_own_raise(self):
        """The card of an act is a card: not to be answered by who asked."""
        session = self.open()
        approver = self.approver(lambda card: None)
        raised = self.adversary.start('Session', 'SetPosture', '(s)', 'full-access', path=session)
        iterate_until(lambda: approver.cards, what='the card')
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('OwnApproval', self.answer, self.adversary, approver.cards[0])
        approver.answer(approver.cards[0], 'deny')
        self.assertFails('Denied', raised.result)
        self.recorded('posture', 'denied')
        self.assertEqual(self.posture(session), 'ask')

    def test_28_raise_the_session_of_somebody_else(self):
        """Only its owner changes a session, and then a person is asked about the owner's wish."""
        session = self.open(self.client)
        self.refused('AccessDenied', self.set, 'SetPosture', 'full-access', session)
        self.refused('AccessDenied', self.set, 'SetMode', 'operate', session)
        self.refused('AccessDenied', self.adversary.call, 'Session', 'Close', path=session)
        self.assertEqual(self.posture(session), 'ask')

    def test_29_leave_plan_in_full_access(self):
        """A person let the session do everything while it only planned; leaving that is another question."""
        session = self.open(mode='plan')
        approver = self.approver(lambda card: 'allow')
        self.set('SetPosture', 'full-access', session)
        self.assertEqual(self.recorded('posture', 'raised')['answered_by'].count(approver.unique_name), 1)
        approver.vanish()
        self.assertFails('RefusedByPolicy', self.adversary.tool, 'probe', session=session)
        iterate_until(lambda: self._nobody_there(session), what='the end of the approver')
        self.recorded('posture', 'no-approver')
        self.assertEqual(self.client.property('Session', 'Mode', path=session), 'plan')

    def _nobody_there(self, session):
        try:
            self.set('SetMode', 'agent', session)
        except Exception as error:
            return error.name.endswith('.NoApprover')
        return False

    def test_30_swap_the_workspace(self):
        """The session's folder is held: another one under its path is not it."""
        folder = self.daemon.base / 'work'
        folder.mkdir()
        session = self.open(workspace=str(folder))
        folder.rename(self.daemon.base / 'moved')
        folder.mkdir()
        self.assertFails('RefusedByPolicy', self.adversary.tool, 'probe', session=session)
        step = self.recorded('call', 'refused-by-policy')['trace'][-1]
        self.assertEqual((step['layer'], step['verdict'], step['source']), ('envelope', 'deny', 'workspace'))


class Trust(AdversaryCase):
    config = CONFIG.replace('token', 'approver')

    def person(self):
        return self.approver()

    def setUp(self):
        super().setUp()
        self.other = self.client.install(self.bundle('other', tool_source("return 'x'", name='other')))['id']

    def token(self):
        return self.adversary.review(self.other)['token']

    def trust(self, token=None):
        return self.adversary.trust(self.other, token or self.token())

    def state(self):
        return self.client.plugins()['other'][3]

    def test_31_trust_without_a_person(self):
        """Reading the review is no yes."""
        self.assertFails('NoApprover', self.trust)
        self.assertEqual(self.recorded('trust', 'no-approver')['plugin'], self.other)
        self.assertNotEqual(self.state(), 'active')

    def test_32_trust_with_a_made_up_token(self):
        """Nobody is bothered for a token that can't be right."""
        for token in ('x', '0' * 64 + '.' + '0' * 64, self.token()[:-1], self.token().upper()):
            with self.assertRaises(Exception) as caught:
                self.trust(token)
            self.assertIn(caught.exception.name.rsplit('.', 1)[1], ('InvalidToken', 'ContentChanged', 'CapabilitiesChanged'), token)
            self.recorded('attempt', 'refused')

    def test_33_confirm_the_own_trust(self):
        """As with every card."""
        approver = self.approver(lambda card: None)
        trusted = self.adversary.start('Plugins', 'Trust', '(ssa{sv})', self.other, self.token(), {})
        iterate_until(lambda: approver.cards, what='the card')
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('OwnApproval', self.answer, self.adversary, approver.cards[0])
        approver.answer(approver.cards[0], 'deny')
        self.assertFails('Denied', trusted.result)
        self.recorded('trust', 'denied')
        self.assertNotEqual(self.state(), 'active')

    def test_34_change_the_bytes_under_the_card(self):
        """What was shown is not true any more: the question is taken back, and a late yes is to nothing."""
        approver = self.approver(lambda card: None)
        trusted = self.adversary.start('Plugins', 'Trust', '(ssa{sv})', self.other, self.token(), {})
        iterate_until(lambda: approver.cards, what='the card')
        (self.daemon.home / 'plugins' / 'other' / 'native' / 'main.mjs').write_text(tool_source("return 'evil'", name='other'))
        try:
            approver.answer(approver.cards[0], 'allow')
        except Exception as error:
            self.assertTrue(error.name.endswith('.Withdrawn'), error)
        with self.assertRaises(Exception) as caught:
            trusted.result()
        self.assertIn(caught.exception.name.rsplit('.', 1)[1], ('Withdrawn', 'ContentChanged'))
        self.assertIn(self.records(kind='trust')[0]['outcome'], ('withdrawn', 'refused'))
        self.assertNotEqual(self.state(), 'active')

    def test_35_enable_what_nobody_trusted(self):
        """Enabling is no trust: nothing of it runs."""
        with self.assertRaises(Exception) as caught:
            self.adversary.plugin('Enable', self.other)
        self.assertEqual(caught.exception.name.rsplit('.', 1)[1], 'NotTrusted')
        self.assertIn('NotTrusted', (self.records(kind='trust')[0].get('result'), self.records(kind='attempt')[:1] and
                                     self.records(kind='attempt')[0]['result']))
        self.assertEqual(self.client.tools(), ['probe'])

    def test_36_run_other_bytes_than_were_reviewed(self):
        """The bytes are compared when the call runs, not only when it begins, whatever the state file says."""
        approver, call, card = self.waiting(self.adversary)
        (self.daemon.home / 'plugins' / 'probe' / 'native' / 'main.mjs').write_text(tool_source("return 'evil'"))
        try:
            approver.answer(card, 'allow')
        except Exception as error:  # withdrawn by then
            self.assertTrue(error.name.endswith('.Withdrawn'), error)
        with self.assertRaises(Exception) as caught:
            call.result()
        self.assertIn(caught.exception.name.rsplit('.', 1)[1], ('ContentChanged', 'NotActive', 'Cancelled', 'Withdrawn'))
        record = self.recorded('call', self.records(kind='call')[0]['outcome'])
        self.assertEqual(record['result'], caught.exception.name.rsplit('.', 1)[1])
        self.assertEqual(self.client.property('Plugin', 'Trust', path=self.client.plugins()['probe'][1]), 'content-changed')
