// SPDX-License-Identifier: MIT
//
// JSON that leaves the host. encodeJson() accepts exactly what contract 4.0.5 calls JSON and turns it into text in the same
// pass, so that the text is a snapshot: nothing that the extension does to the object later changes what was sent. It reads
// property descriptors and never runs a getter, a toJSON or anything else of the extension's.
import {
  ArrayPrototype, ObjectPrototype, bufferByteLength, getOwnPropertyDescriptor, getPrototypeOf, isArray, isFiniteNumber, ownKeys,
  stringIsWellFormed, stringToWellFormed, stringifyJson,
} from './primordials.mjs'
import { JSON_DEPTH_MAX } from './limits.mjs'

export class NotJsonError extends TypeError {
  constructor(path, why) {
    super(`${path === '' ? 'the value' : path} ${why}`)
    this.name = 'NotJsonError'
  }
}

/* The text of one string. Half a surrogate pair is not Unicode text and no strict reader takes it: it becomes U+FFFD. */
export function quote(text) {
  return stringifyJson(stringIsWellFormed(text) ? text : stringToWellFormed(text))
}

function encodeString(text, path, strict) {
  if (strict && !stringIsWellFormed(text)) throw new NotJsonError(path, 'holds half of a surrogate pair')
  return quote(text)
}

function dataOf(value, key, path) {
  const found = getOwnPropertyDescriptor(value, key)
  if (!('value' in found)) throw new NotJsonError(path, 'is an accessor, not a value')
  return found.value
}

function encodeArray(value, path, state, depth) {
  const { length } = value
  if (ownKeys(value).length !== length + 1) throw new NotJsonError(path, 'is an array with holes or with extra properties')
  let text = '['
  for (let i = 0; i < length; i++) {
    const at = `${path}[${i}]`
    if (getOwnPropertyDescriptor(value, i) === undefined) throw new NotJsonError(at, 'is a hole')
    if (i > 0) text += ','
    text += encodeValue(dataOf(value, i, at), at, state, depth)
  }
  return `${text}]`
}

function encodeObject(value, path, state, depth) {
  const keys = ownKeys(value)
  let text = '{'
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]
    if (typeof key === 'symbol') throw new NotJsonError(path, 'has a symbol as a key')
    const at = path === '' ? key : `${path}.${key}`
    if (!getOwnPropertyDescriptor(value, key).enumerable) throw new NotJsonError(at, 'is not enumerable')
    if (i > 0) text += ','
    text += `${encodeString(key, at, state.strict)}:${encodeValue(dataOf(value, key, at), at, state, depth)}`
  }
  return `${text}}`
}

function encodeContainer(value, path, state, depth) {
  if (depth > JSON_DEPTH_MAX) throw new NotJsonError(path, `is nested more than ${JSON_DEPTH_MAX} deep`)
  for (let i = 0; i < state.open.length; i++)
    if (state.open[i] === value) throw new NotJsonError(path, 'contains itself')
  const prototype = getPrototypeOf(value)
  const list = isArray(value)
  if (list ? prototype !== ArrayPrototype : prototype !== ObjectPrototype && prototype !== null)
    throw new NotJsonError(path, 'is neither a plain object nor a plain array')
  state.open[state.open.length] = value
  const text = (list ? encodeArray : encodeObject)(value, path, state, depth)
  state.open.length--
  return text
}

function encodeValue(value, path, state, depth) {
  switch (typeof value) {
    case 'string': return encodeString(value, path, state.strict)
    case 'number':
      if (!isFiniteNumber(value)) throw new NotJsonError(path, 'is not a finite number')
      return stringifyJson(value)
    case 'boolean': return value ? 'true' : 'false'
    case 'object': return value === null ? 'null' : encodeContainer(value, path, state, depth + 1)
    default: throw new NotJsonError(path, `is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`)
  }
}

/* encodeJson(value, {strict, name}): the text of @value, or a NotJsonError that says where it is not JSON. With @strict a string
 * with half of a surrogate pair is refused as well, otherwise it is repaired. @name is how the error calls the value. */
export function encodeJson(value, { strict = false, name = '' } = {}) {
  return encodeValue(value, name, { open: [], strict }, 0)
}

/* objectText([['a', '1'], ['b', undefined]]) is '{"a":1}': values are JSON texts already, undefined leaves the member out. */
export function objectText(members) {
  let text = '{'
  for (let i = 0; i < members.length; i++) {
    const value = members[i][1]
    if (value === undefined) continue
    if (text.length > 1) text += ','
    text += `${stringifyJson(members[i][0])}:${value}`
  }
  return `${text}}`
}

export const utf8Length = text => bufferByteLength(text, 'utf8')

/* boundText(): at most @limit bytes of valid UTF-8, with an ellipsis when something was cut */
export function boundText(text, limit) {
  const whole = stringToWellFormed(text)
  if (utf8Length(whole) <= limit) return whole
  let end = limit - 3
  let kept = whole.slice(0, end)
  while (utf8Length(kept) > limit - 3) {
    end -= Math.max(1, Math.floor((utf8Length(kept) - (limit - 3)) / 3))
    kept = whole.slice(0, end)
  }
  return `${kept.toWellFormed().replace(/\uFFFD$/, '')}…`
}

/* What a person reads about anything that was thrown. Reading an error may itself throw. */
export function errorText(error, limit) {
  try {
    if (typeof error === 'object' && error !== null && 'message' in error) {
      const message = String(error.message)
      const name = typeof error.name === 'string' && error.name !== 'Error' ? error.name : ''
      return boundText(name === '' || message === '' ? message || name || 'Error' : `${name}: ${message}`, limit)
    }
    return boundText(typeof error === 'string' ? error : String(error), limit)
  } catch {
    return 'an error that cannot be read'
  }
}
