// SPDX-License-Identifier: MIT
//
// The JSON that leaves the host
import test from 'node:test'
import assert from 'node:assert/strict'
import { boundText, encodeJson, errorText, objectText, quote } from '../src/json.mjs'

test('json: what JSON.stringify would say for what is JSON', () => {
  for (const value of [null, true, 0, -0, 1.5, 1e300, 'ä"\\\n\u2028', [], {}, [1, [2, { a: null }]], { a: 1, 'b c': [true] }, Object.create(null)])
    assert.equal(encodeJson(value), JSON.stringify(value))
})

test('json: a toJSON of somebody is not run', () => {
  Object.prototype.toJSON = () => 'patched'
  Array.prototype.toJSON = () => 'patched'
  try {
    assert.equal(encodeJson({ a: [1, 'x'] }), '{"a":[1,"x"]}')
  } finally {
    delete Object.prototype.toJSON
    delete Array.prototype.toJSON
  }
})

test('json: the place of a mistake is named', () => {
  assert.throws(() => encodeJson({ a: [1, { b: undefined }] }), /a\[1\]\.b is undefined/)
  assert.throws(() => encodeJson([1, NaN], { name: 'the result' }), /the result\[1\] is not a finite number/)
  assert.throws(() => encodeJson('\ud800', { strict: true }), /surrogate/)
  assert.equal(encodeJson('\ud800'), '"\ufffd"')
})

test('json: an object may occur twice, a cycle may not', () => {
  const shared = { x: 1 }
  assert.equal(encodeJson([shared, shared]), '[{"x":1},{"x":1}]')
  const cycle = { inner: {} }
  cycle.inner.back = cycle
  assert.throws(() => encodeJson(cycle), /contains itself/)
})

test('json: members that are not there are left out', () => {
  assert.equal(objectText([['a', '1'], ['b', undefined], ['c', quote('x')]]), '{"a":1,"c":"x"}')
  assert.equal(objectText([]), '{}')
})

test('json: a bounded text is valid UTF-8 of at most so many bytes and says that it was cut', () => {
  for (const text of ['x'.repeat(100), 'ä'.repeat(100), '€'.repeat(100), '🐳'.repeat(100), `${'x'.repeat(46)}🐳${'y'.repeat(50)}`, 'a€🐳ä'.repeat(30)])
    for (let limit = 10; limit < 60; limit++) {
      const bounded = boundText(text, limit)
      assert.ok(Buffer.byteLength(bounded) <= limit, `${limit}`)
      assert.ok(bounded.isWellFormed() && bounded.endsWith('…') && !bounded.includes('\ufffd'))
      assert.ok(text.startsWith(bounded.slice(0, -1)))
      assert.ok(Buffer.byteLength(bounded) >= limit - 7)
    }
  assert.equal(boundText('short', 5), 'short')
})

test('json: anything that was thrown has a text', () => {
  assert.equal(errorText(new TypeError('x'), 100), 'TypeError: x')
  assert.equal(errorText(new Error('x'), 100), 'x')
  assert.equal(errorText('x', 100), 'x')
  assert.equal(errorText(undefined, 100), 'undefined')
  assert.equal(errorText({ get message() { throw new Error('y') } }, 100), 'an error that cannot be read')
  assert.equal(errorText(Object.create(null), 100), 'an error that cannot be read')
})
