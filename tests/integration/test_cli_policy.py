# SPDX-License-Identifier: MIT
"""codewhalectl policy: show, check and explain."""

import json

from codewhale import RulesCase, rule
from codewhale.terminal import run

USER = rule('deny', tool='wipe', id='no-wiping', why='Gone is gone.') + rule('ask', tool='probe') + '[commands]\ndeny = ["curl"]\n'


class PolicyVerb(RulesCase):
    user = USER
    administrator = '[policy]\nposture = "ask"\n' + rule('deny', tool='other')

    def ctl(self, *words, status=0, **more):
        done = run(self.bus.address, 'policy', *words, CODEWHALE_HOME=str(self.daemon.home), **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_show(self):
        page = self.ctl('show')
        for line in ('Sessions begin with posture ask. The administrator allows nothing looser than ask.',
                     f'deny   tool wipe (no-wiping)  {self.user_file}:1', 'why: Gone is gone.', f'{self.administrator_file}:3',
                     f'deny   command: curl  {self.user_file}:10'):
            self.assertIn(line, page)
        # In the order in which they count.
        self.assertLess(page.index('tool other'), page.index('tool wipe'))
        self.assertLess(page.index('tool wipe'), page.index('tool probe'))
        self.assertEqual(json.loads(self.ctl('--json', 'show'))['in_force'], 'files')

    def test_show_of_a_workspace(self):
        folder = self.workspace('[[protect]]\npath = "deploy"\noutcome = "ask"\nwhy = "live"\n', '[policy]\nposture = "never"\n')
        page = self.ctl('show', f'--workspace={folder}')
        for line in ('nothing looser than never', f'ask    changes of deploy  {folder}/.codewhale/law.toml:1', 'why: live'):
            self.assertIn(line, page)

    def test_check(self):
        self.assertIn(f'{self.user_file}: it can be used; 2 entries.', self.ctl('check'))
        bad = self.daemon.base / 'bad.toml'
        bad.write_text('[[rule]]\noutcom = "deny"\n\n[tools]\nmore = 1\n')
        page = self.ctl('check', str(bad), status=2)
        self.assertEqual([line.split(' ')[0] for line in page.splitlines()], [f'{bad}:2:1:', f'{bad}:5:1:'])
        self.assertFalse(json.loads(self.ctl('--json', 'check', str(bad), status=2))['valid'])
        law = self.daemon.base / 'law.toml'
        law.write_text('[[protect]]\npath = "x"\noutcome = "allow"\n')
        self.assertIn(f"{law}:3:11: error: protect 1: \"outcome\" must be", self.ctl('check', str(law), status=2))
        self.ctl('check', '--kind=nothing', str(law), status=2)
        self.ctl('check', str(self.daemon.base / 'missing.toml'), status=1)

    def test_check_warns_of_what_does_nothing(self):
        self.user_file.write_text(rule('allow', tool='*') + rule('deny', plugin='counter'))
        page = self.ctl('check')
        self.assertIn(':1:1: warning: rule 1: it takes no question away', page)
        self.assertIn(':4:1: warning: rule 2: it never applies', page)

    def test_check_tells_of_settings_and_never_their_values(self):
        config = self.daemon.home / 'config.toml'
        self.assertIn(f'{config}: it can be used;', self.ctl('check'))
        good = config.read_text()
        config.write_text(good + '[core]\nweb_fetch = "sk-secret"\n[policy]\nposture = "sk-secret"\n')
        line = good.count('\n') + 2
        page = self.ctl('check', status=2)
        self.assertIn(f'{self.user_file}: it can be used; 2 entries.', page)
        self.assertIn(f'{config}:{line}:13: error: [core] web_fetch must be true or false.', page)
        self.assertIn(f'{config}:{line + 2}:11: error: [policy] posture must be "ask"', page)
        self.assertNotIn('sk-secret', page)
        kinds = [json.loads(row)['kind'] for row in self.ctl('--json', 'check', status=2).splitlines()]
        self.assertEqual(kinds, ['permissions', 'config'])
        # The same mistake keeps what was read last in force, and is told where people look.
        words = f'{config}:{line}:13: [core] web_fetch must be true or false. (1 more)'
        self.assertIn(words, self.assertFails('InvalidArguments', self.client.call, '', 'Reload').message)
        for place in (self.client.property('', 'Health'), self.daemon.log(),
                      run(self.bus.address, 'doctor').stdout, run(self.bus.address, 'status').stdout):
            self.assertIn(words, place)
        config.write_text(good)
        self.client.call('', 'Reload')
        self.assertEqual(self.client.property('', 'Health'), 'ok')

    def test_check_of_a_workspace_is_no_check_of_settings(self):
        folder = self.workspace(config='[policy]\nposture = "never"\n')
        self.assertIn('it can be used; 1 entry.', self.ctl('check', str(folder / '.codewhale' / 'config.toml')))
        self.assertIn('there is no', self.ctl('check', '--kind=config', str(self.user_file), status=2))

    def test_explain(self):
        approver = self.approver()
        self.tool_bundle('wipe')
        self.tool_bundle('probe')
        page = self.ctl('explain', 'wipe', 'x=1')
        self.assertIn(f'deny   Gone is gone (rule:user:no-wiping)  {self.user_file}:1', page)
        self.assertIn('=> 5. ', page)
        self.assertIn('It would be refused', page)
        self.assertIn('No grant can answer it', self.ctl('explain', 'probe'))
        self.assertIn('plan mode blocks', self.ctl('explain', 'probe', '--mode=plan'))
        self.assertIn('begins with "curl"', self.ctl('explain', 'shell', '{"command":"ls; curl x"}', '--from=probe'))
        report = json.loads(self.ctl('--json', 'explain', 'probe'))
        self.assertEqual([layer['number'] for layer in report['layers']], list(range(1, 10)))
        self.assertEqual([layer['layer'] for layer in report['layers'] if layer['decided']], ['approval'])
        # A dry run: nobody was asked, nothing was recorded.
        self.assertEqual(approver.cards, [])
        self.assertEqual([record for record in json.loads(self.client.call('Decisions', 'Query', '(a{sv})', {}))
                          if record['kind'] == 'call'], [])

    def test_explain_another_session(self):
        self.tool_bundle('probe')
        session = self.session(posture='never')
        page = self.ctl('explain', 'probe', f'--session=s{session.rsplit("/", 1)[1]}')
        self.assertIn('the posture is never', page)
        self.assertIn('no session', self.ctl('explain', 'probe', '--session=s99', status=3))

    def test_explain_what_is_not_there(self):
        self.assertIn('which plugin', self.ctl('explain', 'nothing', status=3))
        self.ctl('explain', 'nothing', '--from=nobody', status=3)
        self.ctl('explain', status=2)
        self.ctl('explain', 'nothing', '{', status=2)
