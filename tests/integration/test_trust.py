# SPDX-License-Identifier: MIT
"""From a folder on disk to an extension that may run: each step is a decision of its own."""

import json
import os
import shutil

from codewhale import SAMPLES, SCHEMA, ServiceCase, iterate_until, tool_source
from codewhale.terminal import run

MANIFEST = {'$schema': SCHEMA, 'name': 'probe', 'version': '1.0.0', 'extensions': {'net.codewhale': {'native': {'path': 'native/main.mjs'}}}}


def texts_of(value):
    """Every text in a JSON value."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in texts_of(item)]


class Lifecycle(ServiceCase):
    def setUp(self):
        super().setUp()
        self.source = self.bundle('probe', tool_source("return 'hello'"))

    def state_of(self, name='probe'):
        return self.client.plugins()[name][3]

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def installed_folder(self):
        return self.daemon.home / 'plugins' / 'probe'

    def test_T01_install_leaves_disabled_and_untrusted(self):
        plugin = self.client.install(self.source)['id']
        facts = self.facts()
        self.assertEqual((facts['Trust'], facts['Enabled'], facts['State']), ('not-reviewed', False, 'disabled'))
        self.client.call('', 'Reload')
        self.assertEqual(self.client.tools(), [])
        self.assertEqual(self.units.names(), [])
        self.assertEqual(facts['Id'], plugin)

    def test_T02_trust_alone_does_not_enable(self):
        plugin = self.client.install(self.source)['id']
        self.assertFails('NotTrusted', self.client.plugin, 'Enable', plugin)
        self.client.trust(plugin)
        facts = self.facts()
        self.assertEqual((facts['Trust'], facts['Enabled'], facts['State']), ('trusted', False, 'disabled'))
        self.assertEqual(self.client.tools(), [])
        self.client.plugin('Enable', plugin)
        self.assertEqual(self.state_of(), 'active')
        self.assertEqual(self.client.tools(), ['probe'])

    def test_T03_wrong_token(self):
        plugin = self.client.install(self.source)['id']
        other = self.client.install(self.bundle('other', tool_source("return 'x'", name='other')))['id']
        token = self.client.review(plugin)['token']
        content, capabilities = token.split('.')
        wrong = '0' * 64
        for bad, name in (
                (f'{wrong}.{capabilities}', 'ContentChanged'), (f'{content}.{wrong}', 'CapabilitiesChanged'),
                (content, 'InvalidToken'), (token.upper(), 'InvalidToken'), ('', 'InvalidToken'), (token + '0', 'InvalidToken'),
                (self.client.review(other)['token'], 'ContentChanged')):
            with self.subTest(token=bad):
                self.assertFails(name, self.client.trust, plugin, bad or ' ')
        self.assertEqual(self.facts()['Trust'], 'not-reviewed')

    def test_T03_old_token_after_a_change(self):
        plugin = self.client.install(self.source)['id']
        token = self.client.review(plugin)['token']
        (self.installed_folder() / 'native' / 'main.mjs').write_text('export function apply() {}\n')
        self.assertFails('ContentChanged', self.client.trust, plugin, token)

    def test_T06_disable_keeps_trust_and_revoke_keeps_the_enabled_bit(self):
        plugin = self.client.bring_up(self.source)
        self.client.plugin('Disable', plugin)
        self.assertEqual((self.facts()['Trust'], self.facts()['Enabled']), ('trusted', False))
        self.assertEqual(self.client.tools(), [])
        self.client.plugin('Enable', plugin)
        self.client.plugin('Revoke', plugin)
        self.assertEqual((self.facts()['Trust'], self.facts()['Enabled']), ('not-reviewed', True))
        self.assertEqual(self.client.tools(), [])
        self.assertEqual(self.units.wait_until_gone(), [])
        self.client.trust(plugin)
        self.assertFalse(self.facts()['Enabled'])

    def test_T07_generation_grows_with_each_write(self):
        plugin = self.client.install(self.source)['id']
        seen = [self.facts()['Generation']]
        self.client.trust(plugin)
        for verb in ('', 'Enable', 'Disable', 'Revoke'):
            if verb:
                self.client.plugin(verb, plugin)
            seen.append(self.facts()['Generation'])
        self.assertEqual(seen, sorted(set(seen)))

    def test_T08_broken_state_file_is_kept_and_enables_nothing(self):
        self.client.bring_up(self.source)
        self.daemon.stop()
        state = self.daemon.home / 'plugins' / 'state.json'
        good = state.read_text()
        for broken in (good[:-3], '[]', good.replace('"schema_version":1', '"schema_version":99').replace(
                '"schema_version": 1', '"schema_version": 99')):
            with self.subTest(state=broken[:40]):
                state.write_text(broken)
                self.daemon.start()
                client = self.connect()
                self.assertEqual(client.tools(), [])
                self.assertEqual(self.units.names(), [])
                self.assertNotEqual(client.plugins()['probe'][3], 'active')
                self.assertNotEqual(client.property('', 'Health'), 'ok')
                plugin = client.plugins()['probe'][0]
                self.assertFails('StateInvalid', client.trust, plugin, client.review(plugin)['token'])
                self.daemon.stop()
                self.assertEqual(state.read_text(), broken)
        state.write_text(good)
        self.daemon.start()
        self.connect().wait_for_tools('probe')

    def test_T10_edited_source_is_not_active_and_active_again_when_restored(self):
        self.client.bring_up(self.source)
        entry = self.installed_folder() / 'native' / 'main.mjs'
        good = entry.read_bytes()
        entry.write_bytes(good + b'\n')
        self.client.call('', 'Reload')
        self.assertEqual(self.facts()['Trust'], 'content-changed')
        self.assertNotEqual(self.state_of(), 'active')
        self.assertEqual(self.client.tools(), [])
        entry.write_bytes(good)
        self.client.call('', 'Reload')
        self.assertEqual(self.state_of(), 'active')
        self.client.wait_for_tools('probe')

    def test_T12_uninstall_needs_disabled(self):
        plugin = self.client.bring_up(self.source)
        self.assertFails('StillEnabled', self.client.plugin, 'Uninstall', plugin)
        self.client.plugin('Disable', plugin)
        self.client.plugin('Uninstall', plugin)
        self.assertNotIn('probe', self.client.plugins())
        self.assertFalse(self.installed_folder().exists())
        self.assertFails('NoSuchPlugin', self.client.plugin, 'Enable', plugin)

    def test_T12_uninstall_needs_the_marker(self):
        (self.daemon.home / 'plugins').mkdir(mode=0o700, exist_ok=True)
        shutil.copytree(self.source, self.installed_folder())
        self.client.call('', 'Reload')
        self.assertFails('NotInstalledByUs', self.client.plugin, 'Uninstall', self.client.plugins()['probe'][0])
        self.assertTrue(self.installed_folder().exists())

    def test_TR_13_dropped_bundle_is_listed_and_runs_nothing(self):
        ran = self.daemon.base / 'ran'
        (self.daemon.home / 'plugins').mkdir(mode=0o700, exist_ok=True)
        shutil.copytree(self.source, self.installed_folder())
        script = self.installed_folder() / 'run.sh'
        script.write_text(f'#!/bin/sh\ntouch {ran}\n')
        script.chmod(0o755)
        (self.installed_folder() / 'mcp.json').write_text('{"mcpServers":{"x":{"command":"./run.sh"}}}')
        self.client.call('', 'Reload')
        facts = self.facts()
        self.assertEqual((facts['Trust'], facts['Enabled'], facts['State']), ('not-reviewed', False, 'disabled'))
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.client.review(facts['Id'])
        self.assertFails('NotTrusted', self.client.plugin, 'Enable', facts['Id'])
        self.assertEqual((self.client.tools(), self.units.names(), ran.exists()), ([], [], False))

    def test_install_twice(self):
        self.client.install(self.source)
        self.assertFails('AlreadyInstalled', self.client.install, self.source)

    def test_install_of_other_bytes_than_previewed(self):
        self.assertFails('ContentChanged', self.client.install, self.source, expected_content_hash='0' * 64)
        self.assertEqual(self.client.plugins(), {})
        preview = json.loads(self.client.call('Plugins', 'Validate', '(s)', str(self.source)))
        result = self.client.install(self.source, expected_content_hash=preview['content_hash'])
        self.assertEqual(result['content_hash'], preview['content_hash'])

    def test_state_survives_a_restart(self):
        self.client.bring_up(self.source)
        self.daemon.stop()
        self.assertEqual(self.units.wait_until_gone(), [])
        self.daemon.start()
        client = self.connect()
        client.wait_for_tools('probe')
        self.assertEqual(client.plugins()['probe'][3], 'active')

    def test_state_survives_sigkill(self):
        plugin = self.client.install(self.source)['id']
        self.client.trust(plugin)
        self.daemon.kill()
        self.daemon.start()
        client = self.connect()
        self.client = client
        self.assertEqual(self.facts()['Trust'], 'trusted')
        client.plugin('Enable', plugin)
        self.daemon.kill()
        self.assertEqual(self.units.wait_until_gone(), [], 'a host outlived the service')
        self.daemon.start()
        self.connect().wait_for_tools('probe')


class Manifests(ServiceCase):
    """Malformed bundles: told by Validate, refused by Install, never trusted."""

    def validate(self, folder):
        return json.loads(self.client.call('Plugins', 'Validate', '(s)', str(folder)))

    def test_good_samples(self):
        for sample in ('counter', 'greeting'):
            result = self.validate(SAMPLES / sample)
            self.assertTrue(result['valid'], result)
            self.assertEqual(result['name'], sample)

    def test_M_malformed_manifests(self):
        native = tool_source("return 'x'")
        cases = {
            'not-json': '{"name": "not-json", ',
            'array': '[]',
            'no-schema': json.dumps({'name': 'no-schema'}),
            'twice': '{"name": "twice", "name": "other"}',
            'no-name': json.dumps({'$schema': SCHEMA, 'version': '1.0.0'}),
            'comment': '{"name": "comment" /* x */}',
            'number': json.dumps({**MANIFEST, 'name': 7}),
            'bad-name': json.dumps({**MANIFEST, 'name': 'Bad Name'}),
            'unknown-key': json.dumps({**MANIFEST, 'name': 'unknown-key', 'extensions': {'net.codewhale': {'surprise': 1}}}),
            'outside': json.dumps({**MANIFEST, 'name': 'outside', 'extensions': {'net.codewhale': {'native': {'path': '../x.mjs'}}}}),
            'missing': json.dumps({**MANIFEST, 'name': 'missing', 'extensions': {'net.codewhale': {'native': {'path': 'no.mjs'}}}}),
        }
        for name, manifest in cases.items():
            with self.subTest(case=name):
                folder = self.bundle(name, native, manifest=manifest)
                result = self.validate(folder)
                self.assertFalse(result['valid'])
                self.assertTrue([row for row in result['diagnostics'] if row['level'] == 'error'], result)
                self.assertFails('InvalidBundle' if name == 'missing' else 'InvalidManifest', self.client.install, folder)
        self.assertEqual(self.client.plugins(), {})

    def test_bundle_with_a_link(self):
        folder = self.bundle('linked', tool_source("return 'x'"))
        (folder / 'secret').symlink_to('/etc/passwd')
        self.assertFalse(self.validate(folder)['valid'])
        self.assertFails('LinkFound', self.client.install, folder)

    def test_path_that_is_no_folder(self):
        for path, name in (('/nonexistent/bundle', 'InvalidArguments'), ('/etc/passwd', 'InvalidBundle'), ('relative', 'NotSupported'),
                           (' ', 'NotSupported')):
            with self.subTest(path=path):
                self.assertFails(name, self.client.install, path)

    def test_DB_03_bundle_in_a_folder_that_is_not_text(self):
        """Told escaped in replies, properties, signals, errors and the log, and of use like any other."""
        shown = '\\xff\\xfe\\x0a'
        plugins = self.daemon.home / 'plugins'
        plugins.mkdir(mode=0o700, exist_ok=True)
        folder = os.fsencode(plugins) + b'/\xff\xfe\n'
        os.rename(self.bundle('probe', tool_source("return 'x'")), folder)
        self.client.call('', 'Reload')
        plugin, path = self.client.plugins()['probe'][:2]
        facts = self.client.properties('Plugin', path=path)
        self.assertTrue(facts['Root'].endswith('/' + shown), facts['Root'])
        self.assertTrue([text for text in texts_of(self.client.review(plugin)) if shown in text])
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        self.client.wait_for_tools('probe')
        properties = self.client.signals('org.freedesktop.DBus.Properties', 'PropertiesChanged', path)
        changed = self.client.signals('Plugins', 'Changed')
        os.rename(folder + b'/native', folder + b'/\xff\xfe\n')
        self.client.call('', 'Reload')
        iterate_until(lambda: changed and properties, what='the signals')
        facts = self.client.properties('Plugin', path=path)
        diagnosed = texts_of(json.loads(self.client.call('Plugins', 'Describe', '(s)', plugin)))
        self.assertTrue([text for text in diagnosed if shown in text], diagnosed)
        self.client.plugin('Disable', plugin)
        error = self.assertFails('NotInstalledByUs', self.client.plugin, 'Uninstall', plugin)
        told = [*texts_of([list(row) for row in changed]), *texts_of([list(row) for row in properties]), *texts_of(facts), *diagnosed, error.message]
        for text in [*told, self.daemon.log()]:
            self.assertNotIn('\ufffd', text)
            self.assertNotIn('\xff', text)
        for text in told:
            self.assertNotIn('\n', text)

    def test_DB_16_description_and_reason(self):
        odd = '%s%n%08x'
        source = tool_source("return 'x'", more=f"ctx.on('tools/pre-execute', () => ({{ kind: 'deny', reason: '{odd}' }}))")
        self.client.bring_up(self.bundle('probe', source.replace('Made for a test.', odd)))
        [listed] = self.client.call('Tools', 'List', '(a{sv})', {})
        self.assertIn(odd, json.dumps(listed))
        self.assertIn(odd, self.assertFails('HookDenied', self.client.tool, 'probe').message)
        for words in (('tools',), ('tools', 'probe'), ('--json', 'tools')):
            self.assertIn(odd, run(self.bus.address, *words).stdout)
        self.assertIn(odd, run(self.bus.address, 'call', 'probe').stderr)

    def test_DB_03_DB_16_name_of_a_folder_that_is_not_text(self):
        plugins = self.daemon.home / 'plugins'
        plugins.mkdir(mode=0o700, exist_ok=True)
        (plugins / 'x').mkdir()
        (plugins / 'x' / 'plugin.json').write_text(json.dumps({**MANIFEST, 'name': '%s%n%08x'}))
        os.rename(plugins / 'x', os.fsencode(plugins) + b'/\xff\xfe\n%s%n')
        self.client.call('', 'Reload')
        described = self.client.call('', 'Describe')
        told = [text for text in texts_of(json.loads(described)) if 'xff' in text]
        self.assertTrue(told, described)
        for text in told:
            self.assertIn('\\xff\\xfe\\x0a%s%n', text)
        status = run(self.bus.address, 'status')
        doctor = run(self.bus.address, 'list')
        for said in (status.stdout, status.stderr, doctor.stdout, doctor.stderr, self.daemon.log()):
            self.assertNotIn('\udcff', said)
            self.assertNotIn('\xff', said)
            self.assertNotIn('\ufffd', said)
        self.assertEqual(self.client.plugins(), {})
