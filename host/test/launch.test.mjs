// SPDX-License-Identifier: MIT
//
// How the host starts and ends (contract 11.3)
import test from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { BUNDLE, TestCore, nodeFlags, runtime, sha256, withCore } from './harness.mjs'

const ended = async (options, before = () => {}) => {
  const core = new TestCore()
  await core.start({ ...options, handshake: false })
  await before(core)
  const result = await core.exited
  await core.stop()
  return { ...result, stderr: core.stderr }
}

test('H01 another protocol than 1 ends the host with 78', async () => {
  const result = await ended({}, async core => {
    await core.waitFor('host/hello')
    core.request('host/initialize', {
      protocol: 2, limits: { max_frame: 33554432, max_inflight: 256, dispose_deadline_ms: 2000, activate_deadline_ms: 5000 },
    }).catch(() => {})
  })
  assert.equal(result.code, 78)
})

test('H02 hello tells the digest of the bundle, the runtime, the tier and the doors that were tried', async () => {
  await withCore({}, async core => {
    const { hello } = core
    assert.deepEqual(hello.protocol, { min: 1, max: 1 })
    assert.equal(hello.bundle_sha256, sha256(readFileSync(BUNDLE)))
    assert.deepEqual(hello.runtime, { name: 'node', version: runtime().version })
    assert.equal(hello.tier, 'plugin')
    assert.deepEqual(hello.builtin_modules, [])
    assert.ok(hello.verified_doors.length > 40)
    for (const door of ['process.dlopen', 'eval', 'node:sqlite', 'permission child']) assert.ok(hello.verified_doors.includes(door), door)
  })
})

for (const args of [['--tier=kernel'], ['--tier=builtin'], [], ['--tier=plugin', 'more'], ['more', '--tier=plugin']])
  test(`H03 the arguments "${args.join(' ')}" end the host with 64`, async () => {
    assert.equal((await ended({ args })).code, 64)
  })

test('H15 shutdown is answered, then the host ends with 0', async () => {
  const core = new TestCore()
  await core.start()
  assert.deepEqual(await core.request('host/shutdown', {}), {})
  assert.equal((await core.exited).code, 0)
  await core.stop()
})

test('H14 the end of input ends the host, also during a call', async () => {
  const core = new TestCore()
  core.write({ 'a.mjs': `export const inject = ['tools']
export const apply = ctx => {
  ctx.tools.register({ name: 'wait', description: '', parameters: { type: 'object' }, execute: () => new Promise(() => {}) })
  setInterval(() => {}, 1000)
}` })
  await core.start()
  await core.activateOk('a.mjs')
  core.call('wait').catch(() => {})
  core.socket.end()
  assert.equal((await core.exited).code, 0)
  await core.stop()
})

/* Each flag that is missing is a door that is open, and the host says which. */
for (const [flag, door] of [['--permission', 'permission child'], ['--no-experimental-sqlite', 'node:sqlite'], ['--disable-proto=throw', '__proto__']])
  test(`H04 L01 without ${flag} the host ends with 70 and names the door`, async () => {
    const result = await ended({ flags: nodeFlags().filter(other => other !== flag) })
    assert.equal(result.code, 70)
    assert.ok(result.stderr.includes(door), result.stderr)
  })

test('W14 nothing but ping is served before initialize', async () => {
  const result = await ended({}, async core => {
    await core.waitFor('host/hello')
    assert.deepEqual(await core.request('host/ping', {}), {})
    core.request('ext/deactivate', { owner: core.owner() }).catch(() => {})
  })
  assert.equal(result.code, 65)
})

/* Requests of the core in the corpus whose envelope is in order: what is wrong with them is answered, and the host goes on. */
const corpus = new URL('../../tests/wire/', import.meta.url)
const answerable = readdirSync(corpus).filter(name => /^W(31|32|34|36|37|39|40)\.json$/.test(name))
  .flatMap(name => JSON.parse(readFileSync(new URL(name, corpus), 'utf8')).cases)
  .filter(({ direction, tier, verdict, message }) => direction === 'core-to-host' && tier === 'plugin' && verdict === 'refuse' &&
    Object.hasOwn(message, 'id') && (message.params === undefined || (typeof message.params === 'object' && !Array.isArray(message.params))))
test('W31 W34 W36 W37 W39 W40 what is wrong in a request of the core is answered with its code', async () => {
  await withCore({}, async core => {
    for (const { name, message: { method, params = {} } } of answerable) {
      const known = ['tool/call', 'command/run', 'ext/activate'].includes(method)
      await assert.rejects(core.request(method, params), { code: known ? -32602 : -32601 }, name)
    }
    assert.ok(answerable.length > 15)
    assert.deepEqual(await core.request('host/ping', {}), {})
  })
})
