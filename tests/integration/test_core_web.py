# SPDX-License-Identifier: MIT
"""web_fetch of the built-in core: off by default, asked about every time, and led nowhere by what a server says."""

import json
import threading

from codewhale import CoreCase, RulesCase, iterate_until, rule
from codewhale.archive_server import ArchiveServer, make_certificates
from codewhale.daemon import CONFIG
from codewhale.units import systemctl

OFF = CONFIG + '[policy]\nposture = "full-access"\n'
ON = OFF + '[core]\nweb_fetch = true\n'
MAX = 4 * 1024 * 1024


class WebCase(CoreCase):
    config = ON

    def setUp(self):
        super().setUp()
        self.session = self.open_session(posture='full-access')
        self.answer = 'allow'
        self.server = self.serve()

    def serve(self, certificates=None):
        server = ArchiveServer(certificates)
        self.addCleanup(server.close)
        return server

    def with_person(self):
        self.person = self.approver(lambda card: self.answer)
        self.bring_up_asking()

    def cards(self):
        return [card['tool'] for card in self.person.cards if card['tool'] != 'ask']

    def fetch(self, url, **more):
        outcome = self.one('web_fetch', {'url': url}, **more)
        self.assertIn('ok', outcome)
        return outcome['ok']

    def assertFetches(self, url, text, **facts):
        result = self.fetch(url)
        self.assertEqual((result['isError'], result['content'][0]['text']), (False, text), result)
        self.assertLessEqual(facts.items(), result['structured'].items())
        return result

    def assertTells(self, url, words):
        result = self.fetch(url)
        self.assertTrue(result['isError'], result)
        self.assertIn(words, result['content'][0]['text'])
        return result

    def configure(self, text):
        self.daemon.write_config(text)
        self.client.call('', 'Reload')


class Switch(WebCase):
    config = OFF

    def offered(self):
        return 'web_fetch' in self.client.property('Session', 'CoreTools', self.session)

    def test_off_unless_configured(self):
        self.with_person()
        url = self.server.put('/page', b'text')
        self.assertFalse(self.offered())
        for name, arguments in (('web_fetch', {'url': url}), ('fetch_url', {'url': url}), ('Web', {'action': 'fetch', 'url': url})):
            outcome = self.one(name, arguments)
            self.assertEqual(outcome.get('code'), 'failed', outcome)
            self.assertIn('has no tool', outcome['message'])
        self.assertEqual((self.cards(), self.server.asked), ([], []))
        self.configure(ON)
        self.assertTrue(self.offered())
        self.assertFetches(url, 'text')
        self.configure(OFF)
        self.assertFalse(self.offered())
        self.assertEqual(self.one('web_fetch', {'url': url})['code'], 'failed')

    def test_switched_off_while_a_person_is_asked(self):
        self.with_person()
        self.configure(ON)
        self.answer = None
        call = self.begin(('web_fetch', {'url': self.server.put('/page', b'text')}))
        iterate_until(self.cards, what='the card of the core call')
        self.configure(OFF)
        try:
            self.person.answer(self.person.cards[-1], 'allow')
        except Exception:  # pylint: disable=broad-except
            pass  # the reload may have judged it again already
        [outcome] = json.loads(call.result(30))['structured']['done']
        self.assertIn(outcome['code'], ('unavailable', 'failed', 'refused'))
        self.assertEqual(self.server.asked, [])


class Asked(WebCase):
    def test_X12_every_call_is_asked_about_and_no_grant_counts(self):
        self.with_person()
        url = self.server.put('/page', b'text')
        session = self.open_session(posture='ask')
        for place, n in ((self.session, 1), (self.session, 2), (session, 3)):
            self.assertEqual(self.one('web_fetch', {'url': url}, session=place)['ok']['content'][0]['text'], 'text')
            self.assertEqual(self.cards(), ['web_fetch'] * n)
        card = self.person.cards[-1]
        self.assertEqual(card['grants'], [])
        self.assertIn(url, card['arguments'])
        self.answer = 'deny'
        self.assertEqual(self.one('web_fetch', {'url': url})['code'], 'denied')
        self.assertEqual(len(self.server.asked), 3)

    def test_X11_no_person_no_page(self):
        """Nobody there; and the two postures that ask nobody."""
        self.bring_up_asking()
        url = self.server.put('/page', b'text')
        self.assertEqual(self.one('web_fetch', {'url': url})['code'], 'denied')
        self.approver(lambda card: self.fail(card))
        for posture in ('auto-review', 'never'):
            session = self.open_session(posture='full-access')
            call = self.begin(('web_fetch', {'url': url}), session=session, hold=True)
            self.wait_until_held()
            self.set_posture(posture, session)
            self.lead('go')
            self.assertEqual(json.loads(call.result(60))['structured']['done'][0]['code'], 'denied')
        self.assertEqual(self.server.asked, [])

    def test_record_and_receipt(self):
        self.with_person()
        url = self.server.put('/page', b'text')
        result = self.ask(('web_fetch', {'url': url}))
        [receipt] = self.receipts(result)['calls']
        self.assertEqual((receipt['tool'], receipt['decision'], receipt['status']), ('web_fetch', 'approved', 'ok'))
        [record] = self.records(tool='web_fetch', kind='core-call')
        self.assertEqual(record['outcome'], 'approved')
        self.assertNotIn(url, json.dumps(record))

    def test_addresses_that_have_two_readings_are_no_arguments(self):
        self.with_person()
        port = self.server.server.server_port
        wrong = ['', 'page', '/etc/passwd', 'file:///etc/passwd', 'ftp://127.0.0.1/', 'gopher://127.0.0.1/', 'dict://127.0.0.1/',
                 'https:/example.org', 'https:///example.org', 'https://', 'https://user@example.org/', 'https://user:pass@example.org/',
                 'https://a.example\\@b.example/', 'https://example.org/a b', 'https://example.org/\u00e9', 'https://ex\u00e4mple.org/',
                 'https://example.org:port/', 'https://example.org:123456/', 'https://example.org/\n', 'https://example.org/\0',
                 f'http://127.0.0.1:{port}/\r\nX: y', 'https://[::1', 'https://[fe80::1%25lo]/', 'https://exa mple.org/', 'javascript:1',
                 ' https://example.org/', 'https://example.org/' + 'x' * 2048]
        for url, outcome in zip(wrong, self.outcomes(*[('web_fetch', {'url': url}) for url in wrong])):
            with self.subTest(url=url):
                self.assertEqual(outcome.get('code'), 'failed', outcome)
        self.assertEqual((self.cards(), self.server.asked), ([], []))


class Forbidden(CoreCase, RulesCase):
    config = ON
    administrator = rule('deny', tool='web_fetch', why='No web on this machine.')

    def test_the_administrator_forbids_it(self):
        person = self.approver()
        self.bring_up_asking()
        server = ArchiveServer()
        self.addCleanup(server.close)
        session = self.open_session(posture='full-access')
        for name, more in (('web_fetch', {}), ('fetch_url', {}), ('Web', {'action': 'fetch'})):
            outcome = self.one(name, {'url': server.put('/', b'text'), **more}, session=session)
            self.assertEqual(outcome['code'], 'refused', outcome)
            self.assertIn('No web on this machine (rule:', outcome['message'])
        self.assertEqual({card['tool'] for card in person.cards} - {'ask'}, set())
        self.assertEqual(server.asked, [])
        self.assertIn('No web on this machine', json.dumps(self.explain('web_fetch', {'url': 'https://example.org/'}, **{'from': 'asking'})))


class Pages(WebCase):
    def setUp(self):
        super().setUp()
        self.with_person()

    def test_texts(self):
        put = self.server.put
        self.assertFetches(put('/plain', 'gr\u00fc\u00df\n'.encode(), Content_Type='text/plain; charset=utf-8'), 'gr\u00fc\u00df\n', status=200,
                           content_type='text/plain', bytes=7)
        self.assertFetches(put('/json', b'{"a":1}', Content_Type='application/problem+json'), '{"a":1}')
        self.assertFetches(put('/latin', b'gr\xfc\xdf', Content_Type='TEXT/HTML;Charset="ISO-8859-1"'), 'gr\u00fc\u00df', content_type='text/html')
        self.assertFetches(put('/broken', b'a\xff\xc3', Content_Type='text/plain'), 'a\ufffd\ufffd')
        self.assertFetches(put('/untyped', b'text'), 'text')
        self.assertFetches(put('/none', b'', 204), '', status=204)
        self.assertFetches(put('/query', b'found') + '?a=[1]&b=%20#part', 'found')
        self.assertFetches(put('/localhost', b'named').replace('127.0.0.1', 'LocalHost'), 'named')
        headers = self.server.asked[0][1]
        self.assertEqual(headers.keys() - {'Host', 'User-Agent', 'Accept'}, set(), headers)

    def test_what_is_no_text_or_not_there(self):
        put = self.server.put
        for url, words in ((put('/image', b'GIF89a', Content_Type='image/gif'), 'its type is image/gif'),
                           (put('/odd', b'x', Content_Type='\x01\x02/<b>'), 'type is none that can be told'),
                           (put('/zero', b'a\0b', Content_Type='text/plain'), 'is no text (3 bytes)'),
                           (put('/packed', b'\x1f\x8b', Content_Encoding='gzip', Content_Type='text/plain'), 'comes packed'),
                           (self.server.url('/missing'), 'status 404'), (put('/error', b'secret', 500), 'status 500'),
                           (put('/short', b'abc', Content_Length='10'), 'ended before its end')):
            with self.subTest(url=url):
                self.assertNotIn('secret', json.dumps(self.assertTells(url, words)))
        url = self.server.put('/', b'')
        self.server.close()
        self.assertTells(url, "can't be reached")

    def test_X15_size_is_bounded(self):
        def endless():
            while True:
                yield b'x' * 65536
        self.assertTells(self.server.put('/said', b'', Content_Length=str(MAX + 1)), f'larger than {MAX} bytes')
        self.assertTells(self.server.put('/endless', endless), f'larger than {MAX} bytes')
        self.assertTells(self.server.put('/headers', b'', **{f'X{i}': 'y' * 60000 for i in range(8)}), 'ended before its end')
        result = self.fetch(self.server.put('/long', b'0123456789' * 100000 + b'end', Content_Type='text/plain'))
        text = ''.join(block['text'] for block in result['content'])
        self.assertLess(len(text), 300 * 1024)
        self.assertTrue(text.startswith('0123456789') and 'left out' in text and 'end' in text)
        self.assertIn('1000003', text)

    def test_redirects(self):
        elsewhere = self.serve()
        target = elsewhere.put('/inner', b'secret')
        redirect = self.server.redirect
        self.server.put('/there', b'arrived')
        self.assertFetches(redirect('/near', '/there'), 'arrived')
        self.assertFetches(redirect('/far', self.server.url('/near'), 307), 'arrived')
        result = self.assertTells(redirect('/away', target), target)
        self.assertEqual(result['structured'], {'location': target})
        self.assertTells(redirect('/name', self.server.url('/there').replace('127.0.0.1', 'localhost')), 'another place')
        self.assertTells(redirect('/safer', self.server.url('/there').replace('http:', 'https:')), 'another place')
        for name, to in (('file', 'file:///etc/passwd'), ('metadata', 'http://169.254.169.254/latest'), ('user', f'http://a:b@{target[7:]}')):
            self.assertTells(redirect(f'/{name}', to), 'leads on')
        self.assertTells(redirect('/odd', 'http://x/<script>"'), 'leads on')
        self.assertTells(redirect('/circle', '/circle'), 'leads on too often')
        self.assertEqual(elsewhere.asked, [])

    def test_only_the_world_and_what_the_address_names(self):
        port = self.server.server.server_port
        self.server.put('/', b'secret')
        refused = [f'http://{host}/' for host in ('example.org', '10.0.0.1', '192.168.1.1', '[fd00::1]', 'x.localhost', f'evil.localhost:{port}')]
        for outcome in self.outcomes(*[('web_fetch', {'url': url}) for url in refused]):
            self.assertIn('this machine only', json.dumps(outcome))
        inner = [f'https://{host}:{port}/' for host in (
            '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255', '[::]',
            '[fe80::1]', '[fc00::1]', '[::ffff:7f00:1]', '[::ffff:a00:1]', '[64:ff9b::a00:1]', '[2002:a00:1::1]', 'x.localhost')]
        for url, outcome in zip(inner, self.outcomes(*[('web_fetch', {'url': url}) for url in inner])):
            with self.subTest(url=url):
                self.assertIn("not the world's", json.dumps(outcome))
        odd = [f'http://{host}:{port}/' for host in ('127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.1')]
        for url, outcome in zip(odd, self.outcomes(*[('web_fetch', {'url': url}) for url in odd])):
            with self.subTest(url=url):
                self.assertIn('another way to write 127.0.0.1', json.dumps(outcome))
        self.assertEqual(self.server.asked, [])

    def test_https_and_what_the_configuration_opens(self):
        authority, *pair = make_certificates(self.daemon.base / 'pki', name='x.localhost')
        secure = self.serve(pair)
        url = secure.put('/page', b'over tls')
        self.assertTells(url, 'certificate is not good')
        more = ON + f'[install]\ncertificates = "{authority}"\n'
        self.configure(more)
        self.assertFetches(url, 'over tls')
        self.assertTells(url.replace('127.0.0.1', 'localhost'), 'certificate is not good')
        named = url.replace('127.0.0.1', 'x.localhost')
        self.assertTells(named, "not the world's")
        self.configure(more.replace('web_fetch = true', 'web_fetch = true\nweb_fetch_private = ["127.0.0.1", "::1"]'))
        self.assertFetches(named, 'over tls')


class Time(WebCase):
    config = ON + 'web_fetch_sec = 1\n'

    def setUp(self):
        super().setUp()
        self.with_person()
        self.released = threading.Event()
        self.addCleanup(self.released.set)

    def late(self, seconds):
        def parts():
            self.released.wait(seconds)
            yield b'late'
        return parts

    def test_X15_a_page_has_its_time_and_no_more(self):
        """One that never comes, and one that begins and does not end."""
        def half():
            yield b'begun '
            self.released.wait(60)
        self.assertTells(self.server.put('/never', self.late(60)), 'too slowly, or not at all')
        self.assertTells(self.server.put('/half', half), 'too slowly, or not at all')
        self.assertFetches(self.server.put('/page', b'text'), 'text')

    def test_X15_a_redirect_gives_no_further_time(self):
        """Each step would be in time by itself; all six together are not, however fast the machine is."""
        for number in range(5):
            self.server.put(f'/{number}', self.late(0.4), 302, Location=f'/{number + 1}', Content_Length='4')
        self.server.put('/5', b'arrived')
        self.assertTells(self.server.url('/0'), 'too slowly, or not at all')
        self.assertEqual([path for path, _ in self.server.asked][:2], ['/0', '/1'])
        self.assertNotIn('/5', [path for path, _ in self.server.asked])


class Unit(WebCase):
    def setUp(self):
        super().setUp()
        self.with_person()
        self.released = threading.Event()
        self.addCleanup(self.released.set)

    def held(self):
        """A page that does not come before it is released."""
        def parts():
            yield b'begun '
            self.released.wait(60)
            yield b'done'
        return self.server.put('/held', parts)

    def core_units(self):
        return [name for name in self.units.names() if 'web_fetch' in name]

    def test_runs_in_a_unit_of_its_own_that_sees_no_file(self):
        call = self.begin(('web_fetch', {'url': self.held()}))
        iterate_until(lambda: self.server.asked, what='the request')
        [unit] = self.core_units()
        shown = systemctl('show', unit)
        for line in ('PrivateUsers=yes', 'NoNewPrivileges=yes', 'MemoryDenyWriteExecute=yes', 'TasksMax=8\n'):
            self.assertIn(line, shown)
        self.assertNotIn(str(self.workspace), shown)
        self.assertNotIn('BindPaths=', shown)
        self.assertNotIn(f'{self.daemon.home}:', shown)
        self.assertNotIn(self.server.url('/held'), shown)
        self.released.set()
        self.assertEqual(json.loads(call.result(30))['structured']['done'][0]['ok']['content'][0]['text'], 'begun done')
        iterate_until(lambda: not self.core_units(), what='the end of the unit')

    def test_X06_ends_with_the_call_that_asked(self):
        call = self.begin(('web_fetch', {'url': self.held()}))
        iterate_until(lambda: self.server.asked, what='the request')
        self.client.call('Session', 'Close', path=self.session)
        iterate_until(lambda: not self.core_units(), what='the end of the unit')
        [record] = self.records(tool='web_fetch', kind='core-call')
        self.assertEqual((record['outcome'], record['result']), ('approved', 'Cancelled'))
