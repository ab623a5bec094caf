# SPDX-License-Identifier: MIT
"""The administrator's file at its real place, /etc/codewhale/permissions.toml, against what its user writes and asks for.

It is put there by root before the private system starts, so a desktop's own file is neither read nor changed."""

import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'integration'))

from codewhale import BusError, CoreCase, RulesCase, iterate_until, rule, tool_source  # noqa: E402
from codewhale.terminal import run  # noqa: E402

PLACE = '/etc/codewhale/permissions.toml'
TOOLS = ('wipe', 'push', 'look', 'look_away')
MORE = '''
  for (const name of ['wipe', 'push', 'look_away'])
    ctx.tools.register({ name, description: 'x', parameters: { type: 'object' }, async execute() { return 'ran' } })'''


@unittest.skipUnless(os.path.exists('/run/private-systemd'), 'the files in /etc belong to the machine')
class Administrator(CoreCase, RulesCase):
    def setUp(self):
        super().setUp()
        self.answer = 'allow'
        self.person = self.approver(lambda card: self.answer)
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source("return 'ran'", name='look', more=MORE)))
        self.build = self.client.review(self.plugin)['content_hash']

    def allow_all(self):
        return rule('allow', plugin=self.plugin, build=self.build, tool='*')

    def outcome(self, tool, **more):
        before = len(self.person.cards)
        try:
            self.client.tool(tool, **more)
        except BusError as error:
            self.assertTrue(error.name.endswith('.RefusedByPolicy'), error)
            return 'deny'
        return 'ask' if len(self.person.cards) > before else 'allow'

    def each(self):
        return [self.outcome(tool) for tool in TOOLS]

    def test_C10_it_is_read_from_etc(self):
        [file] = [file for file in self.shown()['files'] if file['path'] == PLACE]
        self.assertEqual((file['source'], file['state'], file['mistakes']), ('administrator', 'read', []))
        self.assertEqual(os.stat(PLACE).st_uid, 0)
        self.assertEqual(self.each(), ['deny', 'ask', 'ask', 'deny'])
        self.assertIn(f'{PLACE}:7', run(self.bus.address, 'policy', 'show').stdout)

    def test_C10_no_rule_of_the_user_gets_past_it(self):
        self.rules(user=self.allow_all() + '[tools]\nallow = ["wipe", "push", "look", "look_away"]\n')
        self.assertEqual(self.each(), ['deny', 'ask', 'allow', 'deny'])
        [record] = [row for row in self.records(tool='wipe') if row['kind'] == 'call']
        step = record['trace'][-1]
        self.assertEqual((step['source'], step['at'], step['verdict']), ('rule:administrator:site-deny', f'{PLACE}:7', 'deny'))
        self.assertIn(PLACE, run(self.bus.address, 'why', record['call']).stdout)

    def test_C10_the_stricter_word_of_the_user_counts(self):
        self.rules(user=rule('deny', tool='push') + rule('ask', tool='wipe'))
        self.assertEqual(self.each(), ['deny', 'deny', 'ask', 'deny'])

    def test_AP_11_its_question_is_not_granted_away(self):
        self.rules(user=self.allow_all())
        for _ in range(2):
            self.assertEqual(self.outcome('push'), 'ask')
        self.assertEqual([grant for grant in self.person.cards[-1]['grants'] if grant['scope'] != 'once'], [])
        self.assertEqual(self.client.call('Grants', 'List'), [])

    def test_no_other_home_or_option_leads_around_it(self):
        """A user may name further files and another home; the one in /etc is read beside them."""
        self.daemon.stop()
        self.administrator_file.write_text(rule('allow', tool='*', plugin='*'))
        self.daemon.write_config('[features]\nextension_host = true\n[trust]\nconfirm = "token"\n[policy]\nposture = "full-access"\n')
        self.daemon.start()
        iterate_until(lambda: set(self.client.tools()) == set(TOOLS), what='the tools')
        self.person = self.approver(lambda card: self.answer)
        self.assertEqual(self.outcome('wipe'), 'deny')
        self.assertEqual(self.outcome('look_away'), 'deny')
        # Nothing looser than ask, whatever config.toml says and a person would confirm.
        self.assertEqual(self.outcome('look'), 'ask')
        session = self.open_session(posture='full-access')
        self.assertEqual(self.outcome('look', session=session), 'ask')
        self.assertIn('ask', json.dumps(self.explain('look', session=session)['layers'][0]))

    def test_it_counts_for_core_calls(self):
        self.bring_up_asking()
        self.rules(user=rule('allow', caller=self.plugin, tool='*'))
        outcome = self.one('shell', {'command': 'true; curl example.org'})
        self.assertEqual(outcome['code'], 'refused')
        self.assertIn('curl', outcome['message'])
