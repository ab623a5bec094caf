# SPDX-License-Identifier: MIT
"""What happens when the bytes of an enabled bundle change: nothing new runs, and everybody is told."""

import json

from codewhale import BusError, ServiceCase, iterate_until, options, tool_source


class Changes(ServiceCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source("return 'one'")))
        self.path = self.client.plugins()['probe'][1]
        self.entry = self.daemon.home / 'plugins' / 'probe' / 'native' / 'main.mjs'

    def facts(self):
        return self.client.properties('Plugin', path=self.path)

    def test_T10_noticed_without_a_call(self):
        changed = self.client.signals('Plugins', 'Changed')
        properties = self.client.signals('org.freedesktop.DBus.Properties', 'PropertiesChanged', self.path)
        good = self.entry.read_bytes()
        self.entry.write_bytes(good.replace(b'one', b'two'))
        iterate_until(lambda: any(reason.startswith('content-changed') for _, _, reason in changed), what='the signal')
        self.assertTrue(any(values.get('Trust') == 'content-changed' for _, values, _ in properties), list(properties))
        facts = self.facts()
        self.assertEqual((facts['Trust'], facts['State'], facts['Enabled']), ('content-changed', 'enabled-untrusted', True))
        self.assertTrue(facts['Failure'].startswith('content-changed: '), facts['Failure'])
        self.assertEqual(self.client.tools(), [])
        self.assertFails('NoSuchTool', self.client.tool, 'probe')
        # Nothing of the new bytes was taken over: what is enabled needs a new review.
        self.assertFails('ContentChanged', self.client.plugin, 'Enable', self.plugin)
        self.entry.write_bytes(good)
        self.client.wait_for_tools('probe')
        self.approver()
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'one')

    def test_T10_noticed_by_the_very_next_call(self):
        self.entry.write_bytes(self.entry.read_bytes().replace(b'one', b'two'))
        error = self.assertFails('ContentChanged', self.client.tool, 'probe')
        self.assertEqual(self.facts()['Trust'], 'content-changed')
        # Which check it was that stopped what the rules would have asked about is in the record.
        [record] = json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(kind='call')))
        step = record['trace'][-1]
        self.assertEqual((step['layer'], step['verdict'], step['source'], step['why']), ('envelope', 'deny', 'receipt', error.message.removesuffix('.')))

    def test_T11_edited_sealed_copy_is_refused_at_the_next_call(self):
        self.approver()
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'one')
        [sealed] = (self.daemon.home / 'extensions' / 'staged').glob('*/*/native/main.mjs')
        mode = sealed.stat().st_mode & 0o7777
        sealed.chmod(0o600)
        sealed.write_bytes(sealed.read_bytes().replace(b'one', b'two'))
        sealed.chmod(mode)
        with self.assertRaises(BusError) as caught:
            self.client.tool('probe')
        self.assertIn(caught.exception.name.rsplit('.', 1)[1], ('NotActive', 'NoSuchTool'), caught.exception.message)
        self.client.wait_for_tools()
        facts = self.facts()
        self.assertEqual((facts['State'], facts['Enabled']), ('unstaged', True))
        # The source is what was reviewed, so the same review gives a new copy.
        self.client.trust(self.plugin)
        self.client.plugin('Enable', self.plugin)
        self.client.wait_for_tools('probe')
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'one')

    def test_new_folder_and_new_mode_are_noticed(self):
        for change, undo in ((lambda: (self.entry.parent / 'empty').mkdir(), lambda: (self.entry.parent / 'empty').rmdir()),
                             (lambda: self.entry.chmod(0o700), lambda: self.entry.chmod(0o600))):
            change()
            iterate_until(lambda: self.facts()['Trust'] == 'content-changed', what='the change')
            undo()
            iterate_until(lambda: self.facts()['State'] == 'active', what='the bytes of before')

    def test_disabled_bundle_is_not_watched_but_reviewed_anew(self):
        self.client.plugin('Disable', self.plugin)
        self.entry.write_bytes(self.entry.read_bytes().replace(b'one', b'two'))
        self.assertFails('ContentChanged', self.client.plugin, 'Enable', self.plugin)
        self.assertEqual(self.facts()['Trust'], 'content-changed')
