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

/* Where the walk is: the containers that are open, and the key or index in each. Only an error makes a text of it. */
class Place {
  constructor(name, strict) {
    this.name = name
    this.strict = strict
    this.depth = 0
    this.open = []
    this.keys = []
  }

  error(why) {
    let path = this.name
    for (let i = 0; i < this.depth; i++) {
      const key = this.keys[i]
      if (key !== undefined) path += typeof key === 'number' ? `[${key}]` : path === '' ? key : `.${key}`
    }
    return new NotJsonError(path, why)
  }

  enter(value) {
    for (let i = 0; i < this.depth; i++) if (this.open[i] === value) throw this.error('contains itself')
    if (this.depth === JSON_DEPTH_MAX) throw this.error(`is nested more than ${JSON_DEPTH_MAX} deep`)
    this.open[this.depth] = value
    this.keys[this.depth] = undefined
    this.depth++
  }

  leave() {
    this.depth--
  }
}

function encodeString(text, place) {
  if (place.strict && !stringIsWellFormed(text)) throw place.error('holds half of a surrogate pair')
  return quote(text)
}

function dataOf(value, key, place) {
  const found = getOwnPropertyDescriptor(value, key)
  if (found === undefined) throw place.error('is a hole')
  if (!('value' in found)) throw place.error('is an accessor, not a value')
  if (!found.enumerable) throw place.error('is not enumerable')
  return found.value
}

function encodeArray(value, place) {
  const { length } = value
  if (ownKeys(value).length !== length + 1) throw place.error('is an array with holes or with extra properties')
  let text = '['
  for (let i = 0; i < length; i++) {
    place.keys[place.depth - 1] = i
    if (i > 0) text += ','
    text += encodeValue(dataOf(value, i, place), place)
  }
  return `${text}]`
}

function encodeObject(value, place) {
  const keys = ownKeys(value)
  let text = '{'
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]
    if (typeof key === 'symbol') throw place.error('has a symbol as a key')
    place.keys[place.depth - 1] = key
    if (i > 0) text += ','
    text += `${encodeString(key, place)}:`
    text += encodeValue(dataOf(value, key, place), place)
  }
  return `${text}}`
}

function encodeContainer(value, place) {
  const prototype = getPrototypeOf(value)
  const list = isArray(value)
  if (list ? prototype !== ArrayPrototype : prototype !== ObjectPrototype && prototype !== null)
    throw place.error('is neither a plain object nor a plain array')
  place.enter(value)
  const text = list ? encodeArray(value, place) : encodeObject(value, place)
  place.leave()
  return text
}

function encodeValue(value, place) {
  switch (typeof value) {
    case 'string': return encodeString(value, place)
    case 'number':
      if (!isFiniteNumber(value)) throw place.error('is not a finite number')
      return stringifyJson(value)
    case 'boolean': return value ? 'true' : 'false'
    case 'object': return value === null ? 'null' : encodeContainer(value, place)
    default: throw place.error(`is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`)
  }
}

/* encodeJson(value, {strict, name}): the text of @value, or a NotJsonError that says where it is not JSON. With @strict a string
 * with half of a surrogate pair is refused as well, otherwise it is repaired. @name is how the error calls the value. */
export function encodeJson(value, { strict = false, name = '' } = {}) {
  return encodeValue(value, new Place(name, strict))
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
