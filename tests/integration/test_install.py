# SPDX-License-Identifier: MIT
"""Bundles from elsewhere: fetched by a helper in walls of its own, and only when somebody says so."""

import json
import os
import tarfile

from codewhale import SCHEMA, ServiceCase, iterate_until, tool_source
from codewhale.archive_server import ArchiveServer, make_certificates, pack, slowly
from codewhale.daemon import CONFIG



class Elsewhere(ServiceCase):
    def setUp(self):
        super().setUp()
        self.server = ArchiveServer()
        self.addCleanup(self.server.close)
        self.folder = self.bundle('probe', tool_source("return 'one'"))

    def install(self, source, **more):
        return self.client.install(source, allow_network=True, **more)

    def refused(self, name, source, **more):
        error = self.assertFails(name, self.install, source, **more)
        self.assertEqual(self.client.plugins(), {})
        self.assert_nothing_left()
        return error

    def assert_nothing_left(self):
        """No staging folder, no archive, no unpacked one."""
        left = [name for place in (self.daemon.home, self.daemon.home / 'plugins') if place.exists() for name in os.listdir(place)
                if name.startswith(('.staging', '.fetched', '.unpacked'))]
        self.assertEqual(left, [])
        self.assertEqual(self.units.wait_until_gone(), [])


class Fetching(Elsewhere):
    def test_archive_over_http_from_this_machine(self):
        url = self.server.put('/probe.tar.gz', pack(self.folder))
        result = self.install(url)
        self.assertEqual(result['name'], 'probe')
        review = self.client.review(result['id'])
        self.assertEqual(review['source']['installed_from'], url)
        self.assertEqual(self.client.plugins()['probe'][3], 'disabled')
        self.assertEqual(result['content_hash'], json.loads(self.client.call('Plugins', 'Validate', '(s)', str(self.folder)))['content_hash'])
        self.assert_nothing_left()

    def test_nothing_is_fetched_unless_somebody_says_so(self):
        url = self.server.put('/probe.tar.gz', pack(self.folder))
        for call in (self.client.install, lambda source: self.client.plugin('Preview', source)):
            error = self.assertFails('NetworkApproval', call, url)
            self.assertIn('allow-network', error.message)
        self.assertEqual(self.server.asked, [])
        self.assert_nothing_left()

    def test_preview_then_install_of_exactly_that(self):
        url = self.server.put('/probe.tar.gz', pack(self.folder))
        review = json.loads(self.client.plugin('Preview', url, allow_network=True))
        self.assertEqual(self.client.plugins(), {})
        self.assertEqual(review['identity']['name'], 'probe')
        self.assertEqual(review['entries'][0]['path'], 'native/main.mjs')
        (self.folder / 'native' / 'main.mjs').write_text('export function apply() {}\n')
        self.server.put('/probe.tar.gz', pack(self.folder))
        self.refused('ContentChanged', url, expected_content_hash=review['content_hash'])
        review = json.loads(self.client.plugin('Preview', url, allow_network=True))
        self.assertEqual(self.install(url, expected_content_hash=review['content_hash'])['content_hash'], review['content_hash'])

    def test_progress_of_a_download(self):
        (self.folder / 'data.bin').write_bytes(os.urandom(600_000))
        body = pack(self.folder)
        url = self.server.put('/probe.tar.gz', slowly(body), Content_Length=str(len(body)))
        path = f'/org/codewhale/Extensions/request/{self.client.unique_name[1:].replace(".", "_")}/one'
        told = self.client.signals('Request', 'Progressed', path)
        ended = self.client.signals('Request', 'Response', path)
        call = self.client.start('Plugins', 'Install', '(sa{sv})', url, {'allow-network': self.bool(True), 'handle-token': self.text('one')})
        iterate_until(lambda: any(stage == 'fetching' and done > 0 for stage, done, _ in told), what='progress')
        stage, done, total = self.client.property('Request', 'Progress', path=path)
        self.assertEqual((stage, total), ('fetching', len(body)))
        self.assertLessEqual(done, total)
        self.assertEqual(json.loads(call.result())['name'], 'probe')
        outcome, results = ended.wait()
        self.assertEqual((outcome, json.loads(results['result'])['name']), (0, 'probe'))
        fetched = [done for stage, done, _ in told if stage == 'fetching']
        self.assertEqual(fetched, sorted(fetched))
        self.assertFails('NoSuchRequest', self.client.property, 'Request', 'Progress', path=path)

    @staticmethod
    def bool(value):
        from gi.repository import GLib
        return GLib.Variant('b', value)

    @staticmethod
    def text(value):
        from gi.repository import GLib
        return GLib.Variant('s', value)

    def test_closing_the_request_takes_the_install_back(self):
        body = pack(self.folder)
        url = self.server.put('/probe.tar.gz', slowly(body, pieces=40, pause=0.5), Content_Length=str(len(body)))
        path = f'/org/codewhale/Extensions/request/{self.client.unique_name[1:].replace(".", "_")}/two'
        call = self.client.start('Plugins', 'Install', '(sa{sv})', url, {'allow-network': self.bool(True), 'handle-token': self.text('two')})
        iterate_until(lambda: self.server.asked, what='the request')
        stranger = self.connect()
        self.assertFails('NoSuchRequest', stranger.call, 'Request', 'Close', path=path)
        self.client.call('Request', 'Close', path=path)
        self.assertFails('Cancelled', call.result)
        self.assertEqual(self.client.plugins(), {})
        self.assert_nothing_left()

    def test_caller_who_leaves_takes_the_install_back(self):
        body = pack(self.folder)
        url = self.server.put('/probe.tar.gz', slowly(body, pieces=40, pause=0.5), Content_Length=str(len(body)))
        other = self.connect()
        other.start('Plugins', 'Install', '(sa{sv})', url, {'allow-network': self.bool(True)})
        iterate_until(lambda: self.server.asked, what='the request')
        other.vanish()
        iterate_until(lambda: not [name for name in os.listdir(self.daemon.home) if name.startswith('.fetched')], what='the end')
        self.assertEqual(self.client.plugins(), {})
        self.assert_nothing_left()

    def test_killed_install_leaves_nothing(self):
        body = pack(self.folder)
        url = self.server.put('/probe.tar.gz', slowly(body, pieces=40, pause=0.5), Content_Length=str(len(body)))
        self.client.start('Plugins', 'Install', '(sa{sv})', url, {'allow-network': self.bool(True)})
        iterate_until(lambda: self.server.asked, what='the request')
        self.daemon.kill()
        self.daemon.start()
        self.client = self.connect()
        self.assertEqual(self.client.plugins(), {})
        iterate_until(lambda: not [name for name in os.listdir(self.daemon.home) if name.startswith('.fetched')], what='the sweep')
        self.assert_nothing_left()

    def test_helper_sees_nothing_of_ours(self):
        """While it runs: its unit has no home, no bus, and may use the internet's protocols only."""
        body = pack(self.folder)
        url = self.server.put('/probe.tar.gz', slowly(body, pieces=20, pause=0.3), Content_Length=str(len(body)))
        call = self.client.start('Plugins', 'Install', '(sa{sv})', url, {'allow-network': self.bool(True)})
        iterate_until(lambda: self.server.asked, what='the request')
        pids = [pid for pid in os.listdir('/proc') if pid.isdigit() and 'codewhale-host-download' in self.read(pid, 'cgroup')]
        self.assertEqual(len(pids), 1)
        status = dict(line.split(':', 1) for line in self.read(pids[0], 'status').splitlines())
        self.assertEqual((status['NoNewPrivs'].strip(), status['Seccomp'].strip()), ('1', '2'))
        self.assertEqual({int(status[name], 16) for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}, {0})
        root = f'/proc/{pids[0]}/root'
        if os.path.exists(root + '/usr'):  # only root may look into it
            for path in (str(self.daemon.home), '/run/user', '/etc/passwd', '/etc/shadow', '/root', '/var/lib'):
                self.assertFalse(os.path.exists(root + path), path)
        self.assertNotIn(url, self.read(pids[0], 'cmdline'))
        call.result()

    @staticmethod
    def read(pid, name):
        try:
            return open(f'/proc/{pid}/{name}', encoding='utf-8', errors='replace').read()
        except OSError:
            return ''


class Refusals(Elsewhere):
    def test_every_kind_of_contract_2_9(self):
        manifest = json.dumps({'$schema': SCHEMA, 'name': 'probe', 'version': '1.0.0'}).encode()
        cases = {
            'PathTraversal': pack(self.folder, extra=[('../../evil', b'xx', None)]),
            'LinkFound': pack(self.folder, extra=[('bundle-1.0/link', tarfile.SYMTYPE, '/etc/passwd')]),
            'NoBundle': pack(None, extra=[('a/readme', b'nothing here', None)]),
            'SeveralBundles': pack(None, extra=[('a/plugin.json', manifest, None), ('b/plugin.json', manifest, None)]),
            'TooLarge': pack(self.folder, extra=[('bundle-1.0/zeros', bytes(6 * 1024 * 1024), None)]),
            'InvalidBundle': b'this is no archive',
            'InvalidManifest': pack(None, extra=[('plugin.json', b'{ ', None)]),
        }
        for name, body in cases.items():
            with self.subTest(kind=name):
                self.refused(name, self.server.put('/' + name, body))

    def test_hard_link_and_device(self):
        for kind, name in ((tarfile.LNKTYPE, 'LinkFound'), (tarfile.FIFOTYPE, 'InvalidBundle'), (tarfile.CHRTYPE, 'InvalidBundle')):
            self.refused(name, self.server.put('/odd', pack(self.folder, extra=[('bundle-1.0/odd', kind, 'bundle-1.0/plugin.json')])))

    def test_already_installed(self):
        url = self.server.put('/probe.tar.gz', pack(self.folder))
        self.install(url)
        self.assertFails('AlreadyInstalled', self.install, url)
        self.assert_nothing_left()

    def test_server_that_says_no(self):
        for status in (401, 403, 404, 500, 204, 206):
            with self.subTest(status=status):
                error = self.refused('DownloadFailed', self.server.put(f'/{status}', b'', status))
                self.assertIn(str(status), error.message)

    def test_nobody_there(self):
        self.refused('DownloadFailed', 'http://127.0.0.1:1/x.tar')
        self.refused('DownloadFailed', 'https://no-such-host.invalid/x.tar')

    def test_more_than_may_be(self):
        declared = self.server.put('/declared', lambda: iter([b'x' * 1000]), Content_Length=str(100 * 1024 * 1024))
        self.refused('TooLarge', declared)
        endless = self.server.put('/endless', lambda: (b'x' * 65536 for _ in range(100_000)))
        self.refused('TooLarge', endless)

    def test_ends_before_its_end(self):
        self.refused('DownloadFailed', self.server.put('/cut', lambda: iter([b'x' * 1000]), Content_Length='2000'))

    def test_redirects(self):
        good = self.server.put('/probe.tar.gz', pack(self.folder))
        self.server.redirect('/loop', '/loop')
        self.refused('DownloadFailed', self.server.url('/loop'))
        for number, to in enumerate(('file:///etc/passwd', 'https://example.invalid/x', 'ftp://127.0.0.1/x', 'http://user:pass@127.0.0.1/x')):
            self.refused('DownloadFailed', self.server.redirect(f'/away{number}', to))
        self.server.redirect('/second', good, 301)
        self.assertEqual(self.install(self.server.redirect('/first', '/second'))['name'], 'probe')

    def test_addresses_that_are_not_taken(self):
        secret = 'hunter2'
        for source, name in (('http://example.com/x.tar', 'InvalidArguments'), ('ftp://example.com/x', 'NotSupported'),
                             ('file:///etc/passwd', 'NotSupported'), ('https://', 'InvalidArguments'), ('https:///x', 'InvalidArguments'),
                             (f'https://user:{secret}@example.com/x.tar', 'InvalidArguments'), ('http://127.0.0.1.evil.com/x', 'InvalidArguments'),
                             ('http://127.0.0.1@evil.com/x', 'InvalidArguments'), ('http://[::2]/x', 'InvalidArguments'),
                             ('https://exa mple.com/x', 'InvalidArguments'), ('https://example.com/x#y', 'InvalidArguments'),
                             ('https://example.com/' + 'x' * 3000, 'InvalidArguments'), ('github:owner', 'InvalidArguments'),
                             ('github:owner/..', 'InvalidArguments'), ('github:a/b/c', 'InvalidArguments'), ('github:a/b@', 'InvalidArguments')):
            with self.subTest(source=source[:60]):
                self.assertNotIn(secret, self.refused(name, source).message)

    def test_query_is_shown_to_nobody(self):
        url = self.server.put('/gone', b'', 404) + '?token=hunter2'
        self.assertNotIn('hunter2', self.refused('DownloadFailed', url).message)
        url = self.server.put('/probe.tar.gz', pack(self.folder)) + '?token=hunter2'
        plugin = self.install(url)['id']
        self.assertNotIn('hunter2', self.client.plugin('Review', plugin))
        self.assertNotIn('hunter2', self.client.call('Plugins', 'Describe', '(s)', plugin))
        self.assertNotIn('hunter2', self.daemon.log())
        self.assertEqual(self.server.asked[-1][0], '/probe.tar.gz?token=hunter2')

    def test_nothing_of_the_surroundings_is_sent(self):
        self.install(self.server.put('/probe.tar.gz', pack(self.folder)))
        headers = {name.lower() for name in self.server.asked[-1][1]}
        self.assertEqual(headers & {'authorization', 'cookie', 'referer', 'proxy-authorization'}, set())


class Policy(Elsewhere):
    def test_deny(self):
        self.daemon.write_config(CONFIG + '[install]\nnetwork = "deny"\n')
        self.client.call('', 'Reload')
        url = self.server.put('/probe.tar.gz', pack(self.folder))
        self.refused('NetworkDenied', url)
        self.assertEqual(self.server.asked, [])

    def test_allow(self):
        self.daemon.write_config(CONFIG + '[install]\nnetwork = "allow"\n')
        self.client.call('', 'Reload')
        self.assertEqual(self.client.install(self.server.put('/probe.tar.gz', pack(self.folder)))['name'], 'probe')

    def test_a_folder_needs_no_network(self):
        self.daemon.write_config(CONFIG + '[install]\nnetwork = "deny"\n')
        self.client.call('', 'Reload')
        self.assertEqual(self.client.install(self.folder)['name'], 'probe')


class Certificates(Elsewhere):
    def setUp(self):
        super().setUp()
        self.authority, *ours = make_certificates(self.daemon.base / 'certificates')
        self.secure = ArchiveServer(ours)
        self.addCleanup(self.secure.close)

    def test_unknown_authority(self):
        error = self.refused('DownloadFailed', self.secure.put('/probe.tar.gz', pack(self.folder)))
        self.assertIn('certificate', error.message)
        self.assertEqual(self.secure.asked, [])

    def test_authority_of_the_configuration(self):
        self.daemon.write_config(CONFIG + f'[install]\ncertificates = "{self.authority}"\n')
        self.client.call('', 'Reload')
        url = self.secure.put('/probe.tar.gz', pack(self.folder))
        self.assertEqual(self.install(url)['name'], 'probe')
        self.assertEqual(self.client.review('probe')['source']['installed_from'], url)

    def test_redirect_from_https_to_http(self):
        self.daemon.write_config(CONFIG + f'[install]\ncertificates = "{self.authority}"\n')
        self.client.call('', 'Reload')
        self.refused('DownloadFailed', self.secure.redirect('/away', self.server.put('/probe.tar.gz', pack(self.folder))))
        self.assertEqual(self.server.asked, [])

    def test_certificate_for_another_host(self):
        _, *wrong = make_certificates(self.daemon.base / 'others', name='other.example', address='127.0.0.9')
        other = ArchiveServer(wrong)
        self.addCleanup(other.close)
        self.daemon.write_config(CONFIG + f'[install]\ncertificates = "{self.daemon.base / "others" / "authority.pem"}"\n')
        self.client.call('', 'Reload')
        self.refused('DownloadFailed', other.put('/probe.tar.gz', pack(self.folder)))


class Updates(Elsewhere):
    def setUp(self):
        super().setUp()
        self.url = self.server.put('/probe.tar.gz', pack(self.folder))
        self.plugin = self.install(self.url)['id']

    def update(self, **more):
        return json.loads(self.client.plugin('Update', self.plugin, allow_network=True, **more))

    def publish(self, answer):
        (self.folder / 'native' / 'main.mjs').write_text(tool_source(f"return '{answer}'"))
        self.server.put('/probe.tar.gz', pack(self.folder))

    def facts(self):
        return self.client.properties('Plugin', path=self.client.plugins()['probe'][1])

    def enable(self):
        self.client.trust(self.plugin)
        self.client.plugin('Enable', self.plugin)

    def test_T13_identical_bytes_change_nothing(self):
        self.enable()
        before = self.facts()
        self.assertFalse(self.update()['updated'])
        self.assertEqual(self.facts(), before)
        self.assertEqual(self.client.tools(), ['probe'])
        self.assert_no_scratch()

    def assert_no_scratch(self):
        self.assertEqual([name for name in os.listdir(self.daemon.home) if name.startswith(('.fetched', '.unpacked'))], [])

    def test_T13_other_bytes_need_a_new_review_and_inherit_nothing(self):
        self.enable()
        approver = self.approver(lambda card: ('allow', 'tool'))
        session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.client.tool('probe', session=session)
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
        token = self.client.review(self.plugin)['token']
        self.publish('two')
        result = self.update()
        self.assertTrue(result['updated'])
        facts = self.facts()
        self.assertEqual((facts['Trust'], facts['State'], facts['ContentHash']), ('content-changed', 'enabled-untrusted', result['content_hash']))
        self.assertEqual(self.client.tools(), [])
        self.assertEqual(self.client.call('Grants', 'List'), [])
        self.assertFails('ContentChanged', self.client.trust, self.plugin, token)
        review = json.loads(self.client.plugin('Review', self.plugin, diff=True))
        changed = json.dumps(review['changes'])
        self.assertIn('native/main.mjs', changed)
        self.assertIn("return 'two'", changed)
        self.assertIn("return 'one'", changed)
        self.enable()
        cards = len(approver.cards)
        self.assertEqual(self.client.tool('probe', session=session)['content'][0]['text'], 'two')
        self.assertEqual(len(approver.cards), cards + 1, 'the new bytes were not asked about')
        self.assert_no_scratch()

    def test_T13_local_source_is_refused(self):
        other = self.client.install(self.bundle('other', tool_source("return 'x'", name='other')))['id']
        error = self.assertFails('NotSupported', self.client.plugin, 'Update', other, allow_network=True)
        self.assertIn('local', error.message)

    def test_T13_only_what_we_installed(self):
        place = self.daemon.home / 'plugins' / 'dropped'
        place.mkdir()
        (place / 'plugin.json').write_text(json.dumps({'$schema': SCHEMA, 'name': 'dropped', 'version': '1.0.0'}))
        self.client.call('', 'Reload')
        self.assertFails('NotInstalledByUs', self.client.plugin, 'Update', 'dropped', allow_network=True)

    def test_update_asks_too(self):
        self.assertFails('NetworkApproval', self.client.plugin, 'Update', self.plugin)
        self.assertEqual(len(self.server.asked), 1)

    def test_failed_update_keeps_the_old(self):
        self.enable()
        self.server.put('/probe.tar.gz', b'', 404)
        self.assertFails('DownloadFailed', self.update)
        self.server.put('/probe.tar.gz', b'no archive')
        self.assertFails('InvalidBundle', self.update)
        self.publish('two')
        self.assertFails('ContentChanged', self.update, expected_content_hash='0' * 64)
        self.server.put('/probe.tar.gz', pack(self.bundle('stranger', tool_source("return 'x'"))))
        self.assertFails('InvalidBundle', self.update)
        self.assertEqual((self.facts()['State'], self.client.tools()), ('active', ['probe']))
        self.assert_no_scratch()

    def test_update_after_a_restart(self):
        self.daemon.stop()
        self.daemon.start()
        self.client = self.connect()
        self.publish('two')
        self.assertTrue(self.update()['updated'])
