// SPDX-License-Identifier: MIT
//
// Framing and the envelope, as the host reads them (contract 11.2)
import test from 'node:test'
import assert from 'node:assert/strict'
import { TestCore, encode, withCore } from './harness.mjs'

/* Sends raw bytes to a host in order and answers with how it ended */
async function endAfter(bytes, { close = true, handshake = true } = {}) {
  const core = new TestCore()
  await core.start({ handshake })
  if (!handshake) await core.waitFor('host/hello')
  core.socket.write(bytes)
  if (close) core.socket.end()
  const result = await core.exited
  await core.stop()
  return { ...result, stderr: core.stderr }
}

const header = (magic, length) => {
  const bytes = Buffer.alloc(8)
  bytes.write(magic)
  bytes.writeUInt32LE(length, 4)
  return bytes
}

const PING = { jsonrpc: '2.0', id: 9001, method: 'host/ping', params: {} }

test('F01 a frame with a bad magic ends the host with 65', async () => {
  assert.equal((await endAfter(header('CWX2', 2), { close: false })).code, 65)
})

test('F02 F03 a declared length above the limit is refused before its payload comes', async () => {
  const ended = await endAfter(header('CWX1', 33554433), { close: false })
  assert.equal(ended.code, 65)
  assert.match(ended.stderr, /33554433/)
})

test('F03 a payload of exactly the limit is read', async () => {
  await withCore({}, async core => {
    const padding = 33554432 - Buffer.byteLength(JSON.stringify({ ...PING, params: { padding: '' } }))
    core.answers.set(PING.id, { resolve: result => core.resolved(result), reject: error => core.rejected(error) })
    const answer = new Promise((resolve, reject) => { core.resolved = resolve; core.rejected = reject })
    core.socket.write(encode({ ...PING, params: { padding: 'x'.repeat(padding) } }))
    assert.deepEqual(await answer, {})
  })
})

test('F03 the host answers with an error instead of a frame above the limit of host/initialize', async () => {
  const core = new TestCore()
  core.limits = { max_frame: 4096 }
  core.write({ 'a.mjs': `export const inject = ['tools']
export const apply = ctx => { ctx.tools.register({ name: 'large', description: '', parameters: { type: 'object' }, execute: () => 'x'.repeat(5000) }) }` })
  try {
    await core.start()
    await core.activateOk('a.mjs')
    await assert.rejects(core.call('large'), { code: -32000, message: /larger than 4096/ })
  } finally {
    await core.stop()
  }
})

test('F04 the end of input between frames is clean, inside a header or a payload it is not', async () => {
  assert.equal((await endAfter(Buffer.alloc(0))).code, 0)
  assert.equal((await endAfter(header('CWX1', 10).subarray(0, 5))).code, 65)
  assert.equal((await endAfter(Buffer.concat([header('CWX1', 10), Buffer.from('{"json')]))).code, 65)
})

test('F05 a payload that is not UTF-8, not JSON, or nothing ends the host with 65', async () => {
  assert.equal((await endAfter(encode(Buffer.from([0x22, 0xff, 0x22])), { close: false })).code, 65)
  assert.equal((await endAfter(encode('{"jsonrpc"'), { close: false })).code, 65)
  assert.equal((await endAfter(header('CWX1', 0), { close: false })).code, 65)
  assert.equal((await endAfter(encode('\ufeff{}'), { close: false })).code, 65)
})

test('F06 what a plugin writes to standard output does not reach the channel', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools']
console.log('at the start')
export const apply = ctx => { ctx.tools.register({ name: 'say', description: '', parameters: { type: 'object' }, execute() {
  console.log('to the log')
  console.info('to the info')
  process.stdout.write('to the output\\n')
  return process.stdout === process.stderr
} }) }` }, async core => {
    await core.activateOk('a.mjs')
    assert.equal((await core.call('say')).structured, true)
    assert.deepEqual(await core.request('host/ping', {}), {})
    for (const text of ['at the start', 'to the log', 'to the info', 'to the output']) await core.heard(new RegExp(text))
  })
})

test('F06 standard input is empty for a plugin', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools']
export const apply = ctx => { ctx.tools.register({ name: 'read', description: '', parameters: { type: 'object' }, async execute() {
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  return { text }
} }) }` }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual((await core.call('read')).structured, { text: '' })
    assert.deepEqual(await core.request('host/ping', {}), {})
  })
})

const WAITING = { 'a.mjs': `export const inject = ['tools', 'storage']
export const apply = ctx => {
  ctx.tools.register({ name: 'wait', description: '', parameters: { type: 'object' }, execute: (input, { signal }) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')))
  }) })
  ctx.tools.register({ name: 'flood', description: '', parameters: { type: 'object' }, async execute({ count }) {
    const values = await Promise.all(Array.from({ length: count }, (nothing, i) => ctx.storage.get('key' + i)))
    return values.length
  } })
}` }

test('F07 F08 256 calls may be in flight, the heartbeat still works, the next request is a violation', async () => {
  const core = new TestCore()
  core.write(WAITING)
  await core.start()
  await core.activateOk('a.mjs')
  const calls = Array.from({ length: 256 }, () => core.call('wait').catch(error => error))
  assert.deepEqual(await core.request('host/ping', {}), {})
  core.call('wait').catch(() => {})
  assert.equal((await core.exited).code, 65)
  await core.stop()
  assert.equal((await Promise.all(calls)).length, 256)
})

test('F07 an id that is still in use is a violation', async () => {
  const core = new TestCore()
  core.write(WAITING)
  await core.start()
  await core.activateOk('a.mjs')
  const call = core.call('wait')
  call.catch(() => {})
  core.send({ jsonrpc: '2.0', id: call.id, method: 'host/shutdown', params: {} })
  assert.equal((await core.exited).code, 65)
  await core.stop()
})

test('F07 the host itself never has more than 256 requests in flight', async () => {
  await withCore(WAITING, async core => {
    await core.activateOk('a.mjs')
    let open = 0
    let peak = 0
    const held = []
    core.handlers['storage/get'] = async () => {
      peak = Math.max(peak, ++open)
      await new Promise(resolve => held.push(resolve))
      open--
      return { found: false }
    }
    const call = core.call('flood', { count: 600 })
    while (held.length < 256) await new Promise(setImmediate)
    assert.deepEqual(await core.request('host/ping', {}), {})
    assert.equal(held.length, 256)
    core.handlers['storage/get'] = () => ({ found: false })
    for (const release of held) release()
    assert.equal((await call).structured, 600)
    assert.equal(peak, 256)
  })
})

test('F07 an answer to no request is a violation', async () => {
  assert.equal((await endAfter(encode({ jsonrpc: '2.0', id: 77, result: {} }), { close: false })).code, 65)
})

test('F09 a host whose core stops reading still ends with its input', async () => {
  const core = new TestCore()
  core.write({ 'a.mjs': `export const inject = ['tools']
export const apply = ctx => { ctx.tools.register({ name: 'large', description: '', parameters: { type: 'object' }, execute: () => 'x'.repeat(4000000) }) }` })
  await core.start()
  await core.activateOk('a.mjs')
  core.socket.pause()
  for (let i = 0; i < 8; i++) core.call('large').catch(() => {})
  core.socket.end()
  assert.equal((await core.exited).code, 0)
  await core.stop()
})
