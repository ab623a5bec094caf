// SPDX-License-Identifier: MIT
//
// The sample bundles do what contract 2.10.1 promises of them
import test from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { withCore } from './harness.mjs'

const samples = new URL('../../data/samples/', import.meta.url)
const read = path => readFileSync(new URL(path, samples), 'utf8')
const COUNTER = { 'native/counter.mjs': read('counter/native/counter.mjs') }
const GREETING = { 'native/greeting.mts': read('greeting/native/greeting.mts') }

test('samples: the manifests name the entries and keep to the grammar', () => {
  for (const name of ['counter', 'greeting']) {
    const manifest = JSON.parse(read(`${name}/plugin.json`))
    const known = ['$schema', 'name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords', 'extensions']
    for (const key of Object.keys(manifest)) assert.ok(known.includes(key), key)
    assert.equal(manifest.$schema, 'https://agent-plugins.org/schemas/plugin.json')
    assert.equal(manifest.name, name)
    assert.ok(read(`${name}/${manifest.extensions['net.codewhale'].native.path}`).length > 0)
  }
})

test('samples: counter registers four things, counts, and keeps the count', async () => {
  await withCore(COUNTER, async core => {
    assert.deepEqual(await core.activateOk('native/counter.mjs'), { status: 'ok', tools: ['mod_counter'], commands: ['mod-count'] })
    assert.deepEqual(core.registered.map(({ kind, spec }) => [kind, spec.name]), [
      ['tool', 'mod_counter'], ['command', 'mod-count'], ['prompt_section', 'counter-example'], ['hook', 'tools/pre-execute'],
    ])
    const count = async (...args) => (await core.call('mod_counter', ...args)).structured
    assert.deepEqual(await count({ label: 'first' }), { count: 1, label: 'first', callId: 'c-1', sessionId: null, agentId: null, originTurnId: null })
    assert.deepEqual(await count({ label: 'second' }, { session_id: 's', agent_id: 'a', origin_turn_id: 't' }),
      { count: 2, label: 'second', callId: 'c-1', sessionId: 's', agentId: 'a', originTurnId: 't' })
    assert.equal((await count({ increment: false })).count, 2)
    const [first, second] = await Promise.all([count(), count()])
    assert.deepEqual([first.count, second.count], [3, 4])
    assert.deepEqual(await core.run('mod-count'), { kind: 'success', text: 'The counter is at 4.' })
    assert.equal((await count({ increment: false })).count, 4)
    assert.deepEqual(await core.deactivate(), { disposed: true, leaked: [] })
    assert.deepEqual(core.registered, [])
    await core.activateOk('native/counter.mjs', { owner: core.owner('user/0a1b/sample', 2) })
    assert.equal((await count({})).count, 5)
  })
})

test('samples: the schema of the counter has no other members than label and increment', async () => {
  await withCore(COUNTER, async core => {
    await core.activateOk('native/counter.mjs')
    const { input_schema: schema } = core.registered[0].spec
    assert.deepEqual(Object.keys(schema.properties), ['label', 'increment'])
    assert.equal(schema.properties.label.maxLength, 64)
    assert.equal(schema.additionalProperties, false)
    assert.equal(schema.required, undefined)
  })
})

test('samples: the listener of the counter denies one label, annotates its own tool, and leaves others alone', async () => {
  await withCore(COUNTER, async core => {
    await core.activateOk('native/counter.mjs')
    const handle = core.handleOf('tools/pre-execute')
    const verdict = await core.evaluate(handle, { name: 'mod_counter', input: { label: 'blocked' } })
    assert.equal(verdict.kind, 'deny')
    assert.ok(verdict.reason.length > 0)
    assert.equal((await core.evaluate(handle, { name: 'mod_counter', input: { label: 'other' } })).kind, 'annotate')
    assert.deepEqual(await core.evaluate(handle, { name: 'read', input: { label: 'blocked' } }), { kind: 'abstain' })
  })
})

test('samples: greeting greets with its setting and the id of the call', async () => {
  await withCore(GREETING, async core => {
    assert.deepEqual(await core.activateOk('native/greeting.mts'), { status: 'ok', tools: ['hello_greet'], commands: ['hello-greet'] })
    assert.equal((await core.call('hello_greet')).content[0].text, 'Hello, world! (c-1)')
    assert.equal((await core.call('hello_greet', { name: 'Ada' })).content[0].text, 'Hello, Ada! (c-1)')
    assert.deepEqual(await core.run('hello-greet', 'Ada'), { kind: 'success', text: 'Hello, Ada!' })
    assert.equal(core.registered.find(({ kind }) => kind === 'command').spec.argument_hint, '[name]')
    await core.deactivate()
    await core.activateOk('native/greeting.mts', { owner: core.owner('user/0a1b/sample', 2), config: { greeting: 'Good morning' } })
    assert.equal((await core.call('hello_greet')).content[0].text, 'Good morning, world! (c-1)')
    await core.deactivate(undefined, { owner: core.owner('user/0a1b/sample', 2) })
    const failed = await core.activate('native/greeting.mts', { owner: core.owner('user/0a1b/sample', 3), config: { greeting: 1 } })
    assert.equal(failed.status, 'failed')
    assert.match(failed.diagnostic, /greeting/)
  })
})
