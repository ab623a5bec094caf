// SPDX-License-Identifier: MIT
//
// Runs without the service: node --test
import assert from 'node:assert/strict'
import test from 'node:test'
import * as extension from '../native/@NAME@.@SUFFIX@'
import { activate } from '../testing/context.mjs'

test('the tool greets and counts', async () => {
  const host = await activate(extension)
  assert.deepEqual(await host.call('@TOOL@', { name: 'Ada' }), { text: 'Hello, Ada!', times: 1 })
  assert.deepEqual(await host.call('@TOOL@', {}), { text: 'Hello, world!', times: 2 })
})

test('the greeting is a setting', async () => {
  const host = await activate(extension, { greeting: 'Moin' })
  assert.equal((await host.call('@TOOL@', {})).text, 'Moin, world!')
})

test('the command says how often', async () => {
  const host = await activate(extension)
  await host.call('@TOOL@', {})
  assert.equal(await host.run('@COMMAND@'), 'Hello was said 1 times.')
})

test('nothing is left when it ends', async () => {
  const host = await activate(extension)
  await host.end()
  assert.deepEqual(host.registered(), [])
})
