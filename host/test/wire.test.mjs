// SPDX-License-Identifier: MIT
//
// The wire corpus (contract 11.1): the same messages that the C side reads. What a host sends is judged by the strict reader that all
// other tests look at the host through; what the core sends, by the host's own.
import test from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { checkHostMessage, HOST_METHOD_NAMES } from './wire.mjs'
import { decodeMessage } from '../src/rpc.mjs'
import { checkParams, methodTable, TIERS } from '../src/wire.mjs'
import { encodeJson } from '../src/json.mjs'

const corpus = new URL('../../tests/wire/', import.meta.url)
const rows = readdirSync(corpus).filter(name => /^W\d\d\.json$/.test(name)).sort().map(name => JSON.parse(readFileSync(new URL(name, corpus), 'utf8')))

/* A complaint of the host about a message of the core, or undefined */
function checkCoreMessage(message, tier) {
  try {
    const table = methodTable(tier)
    const { kind, method, params } = decodeMessage(Buffer.from(JSON.stringify(message)), table)
    if (kind === 'response') return undefined
    if (table[method] === undefined) return `the unknown method ${method}`
    checkParams(method, params)
    return undefined
  } catch (error) {
    return error.message
  }
}

const complaintOf = ({ direction, tier, answers, message }) =>
  direction === 'host-to-core' ? checkHostMessage(message, { tier, answers }) : checkCoreMessage(message, tier)

test('W the corpus is complete', () => {
  assert.deepEqual(rows.map(({ id }) => id), Array.from({ length: 46 }, (nothing, i) => `W${String(i + 1).padStart(2, '0')}`))
})

for (const { id, title, cases } of rows) {
  if (cases.length === 0) continue
  test(`${id} ${title}`, () => {
    for (const row of cases) {
      const complaint = complaintOf(row)
      assert.equal(complaint === undefined ? 'accept' : 'refuse', row.verdict, `${row.direction} ${row.name}: ${complaint}`)
    }
  })
}

test('W45 no method speaks of what is not an extension\'s to give', () => {
  const { words } = rows.find(({ id }) => id === 'W45')
  const methods = [...HOST_METHOD_NAMES, ...TIERS.flatMap(tier => Object.keys(methodTable(tier)))]
  for (const method of methods) for (const word of words) assert.ok(!method.includes(word), `${method} ${word}`)
})

/* What the host sends is written by encodeJson(), what it reads comes out of decodeMessage(). */
function roundTrip({ direction, tier, message }) {
  if (direction === 'host-to-core') return JSON.parse(encodeJson(message))
  const { kind, params, ...members } = decodeMessage(Buffer.from(JSON.stringify(message)), methodTable(tier))
  const rest = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  return { jsonrpc: '2.0', ...rest, ...(Object.hasOwn(message, 'params') ? { params } : {}) }
}

test('W46 decoding and encoding gives an equal document', () => {
  const accepted = rows.flatMap(({ cases }) => cases).filter(({ verdict }) => verdict === 'accept')
  assert.ok(accepted.length > 40)
  for (const row of accepted) assert.deepEqual(roundTrip(row), row.message, row.name)
})
