// SPDX-License-Identifier: MIT
//
// JSON-RPC 2.0 over frames, strict in what it takes (contract 3.15, 3.17, 3.18). A ProtocolError means that the other side
// is not the one we were built with, or lost count; the host ends with 65. A RpcError is an answer.
import { CANCEL_GRACE_MS, CODE, ERROR_BYTES_MAX, FRAME_BYTES_MAX, IN_FLIGHT_MAX } from './limits.mjs'
import { boundText, errorText, objectText, quote } from './json.mjs'
import {
  clearTimer, decodeUtf8, hasOwn, isArray, isSafeInteger, objectKeys, parseJson, setTimer,
} from './primordials.mjs'
import { FrameError, FrameReader, encodeFrame } from './frame.mjs'

const ENVELOPE = { __proto__: null, jsonrpc: true, id: true, method: true, params: true, result: true, error: true }
const CANCELLED_KEPT = 1024

export class ProtocolError extends Error {
  constructor(message) {
    super(message)
    this.name = 'ProtocolError'
  }
}

export class RpcError extends Error {
  constructor(code, message, data) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

export const isObject = value => typeof value === 'object' && value !== null && !isArray(value)
const isId = value => isSafeInteger(value) && value >= 0

function checkEnvelope(message) {
  if (!isObject(message)) throw new ProtocolError('a message is not an object')
  const keys = objectKeys(message)
  for (let i = 0; i < keys.length; i++)
    if (ENVELOPE[keys[i]] !== true) throw new ProtocolError(`a message has the unknown member ${keys[i]}`)
  if (message.jsonrpc !== '2.0') throw new ProtocolError('a message is not JSON-RPC 2.0')
  if (hasOwn(message, 'id') && !isId(message.id)) throw new ProtocolError('an id is not an unsigned integer')
  if (hasOwn(message, 'params') && !isObject(message.params)) throw new ProtocolError('params is not an object')
}

function checkResponse(message) {
  if (!hasOwn(message, 'id')) throw new ProtocolError('a response has no id')
  if (hasOwn(message, 'params')) throw new ProtocolError('a response has params')
  if (hasOwn(message, 'result') === hasOwn(message, 'error')) throw new ProtocolError('a response needs either result or error')
  if (!hasOwn(message, 'error')) return
  const { error } = message
  if (!isObject(error) || !isSafeInteger(error.code) || typeof error.message !== 'string')
    throw new ProtocolError('an error needs a code and a message')
}

/* decodeMessage(bytes, table) -> {kind: 'request'|'notification'|'response', ...}: the strict reading of one payload. @table maps
 * a method to 'request' or 'notification'; a method that it does not know is a ProtocolError as a notification, and left to the
 * caller to answer as a request. */
export function decodeMessage(bytes, table) {
  let message
  try {
    message = parseJson(decodeUtf8(bytes))
  } catch {
    throw new ProtocolError('a payload is not JSON in UTF-8')
  }
  checkEnvelope(message)
  if (!hasOwn(message, 'method')) {
    checkResponse(message)
    return hasOwn(message, 'error')
      ? { kind: 'response', id: message.id, error: message.error }
      : { kind: 'response', id: message.id, result: message.result }
  }
  const { method, params = {} } = message
  if (typeof method !== 'string') throw new ProtocolError('a method is not a string')
  if (hasOwn(message, 'result') || hasOwn(message, 'error')) throw new ProtocolError(`${method} carries a result`)
  const kind = hasOwn(message, 'id') ? 'request' : 'notification'
  const known = table[method]
  if (known === undefined ? kind === 'notification' : known !== kind)
    throw new ProtocolError(known === undefined ? `the notification ${method} is unknown` : `${method} is a ${known}, not a ${kind}`)
  return { kind, id: message.id, method, params }
}

/* The channel. @write takes one Buffer, and what to call when it has left the process; @table is decodeMessage()'s; @serve(method, params, call) answers with the text of a
 * result or throws; @notify(method, params) takes notifications. ProtocolErrors come out of receive(). */
export class Channel {
  constructor({ write, table, serve, notify }) {
    this.write = write
    this.table = table
    this.serve = serve
    this.notify = notify
    this.frameMax = FRAME_BYTES_MAX
    this.inFlightMax = IN_FLIGHT_MAX
    this.lastId = 0
    this.pending = new Map() /* ours, waiting for an answer */
    this.waiting = [] /* ours, not sent yet because inFlightMax are pending */
    this.forgotten = new Set() /* ours that were cancelled: an answer may or may not come */
    this.serving = new Map() /* theirs */
    this.servingCounted = 0 /* theirs that are neither a ping nor cancelled */
    this.reader = new FrameReader(FRAME_BYTES_MAX, payload => this.onPayload(payload))
  }

  receive(chunk) {
    this.reader.push(chunk)
  }

  send(text, onSent) {
    this.write(encodeFrame(text, this.frameMax), onSent)
  }

  sendNotification(method, paramsText, onSent) {
    this.send(`{"jsonrpc":"2.0","method":${quote(method)},"params":${paramsText}}`, onSent)
  }

  /* request(): the result of @method. With @signal it can be cancelled; it then rejects with CODE.Cancelled. */
  request(method, paramsText, signal) {
    return new Promise((resolve, reject) => {
      const entry = { id: 0, method, paramsText, resolve, reject, signal, onAbort: undefined }
      if (signal?.aborted) {
        reject(new RpcError(CODE.Cancelled, 'cancelled'))
        return
      }
      if (signal) {
        entry.onAbort = () => this.cancel(entry)
        signal.addEventListener('abort', entry.onAbort, { once: true })
      }
      this.waiting.push(entry)
      this.sendWaiting()
    })
  }

  sendWaiting() {
    while (this.waiting.length > 0 && this.pending.size < this.inFlightMax) {
      const entry = this.waiting.shift()
      entry.id = ++this.lastId
      this.pending.set(entry.id, entry)
      try {
        this.send(`{"jsonrpc":"2.0","id":${entry.id},"method":${quote(entry.method)},"params":${entry.paramsText}}`)
      } catch (error) {
        this.pending.delete(entry.id)
        this.settle(entry, () => entry.reject(error))
      }
    }
  }

  settle(entry, finish) {
    if (entry.onAbort) entry.signal.removeEventListener('abort', entry.onAbort)
    finish()
  }

  cancel(entry) {
    const at = this.waiting.indexOf(entry)
    if (at >= 0) {
      this.waiting.splice(at, 1)
    } else {
      this.pending.delete(entry.id)
      this.forgotten.add(entry.id)
      if (this.forgotten.size > CANCELLED_KEPT) this.forgotten.delete(this.forgotten.values().next().value)
      this.sendNotification('$/cancel', `{"id":${entry.id}}`)
    }
    this.settle(entry, () => entry.reject(new RpcError(CODE.Cancelled, 'cancelled')))
    this.sendWaiting()
  }

  onPayload(payload) {
    const message = decodeMessage(payload, this.table)
    if (message.kind === 'response') this.onResponse(message)
    else if (message.kind === 'request') this.onRequest(message)
    else if (message.method === '$/cancel') this.onCancel(message.params)
    else this.notify(message.method, message.params)
  }

  onResponse({ id, result, error }) {
    const entry = this.pending.get(id)
    if (entry === undefined) {
      if (this.forgotten.delete(id)) return
      throw new ProtocolError(`the answer ${id} belongs to no request`)
    }
    this.pending.delete(id)
    this.settle(entry, () => {
      if (error === undefined) entry.resolve(result)
      else entry.reject(new RpcError(error.code, error.message, error.data))
    })
    this.sendWaiting()
  }

  onRequest({ id, method, params }) {
    if (this.serving.has(id)) throw new ProtocolError(`the id ${id} is still in use`)
    const counted = method !== 'host/ping'
    if (counted && this.servingCounted >= this.inFlightMax)
      throw new ProtocolError(`more than ${this.inFlightMax} requests are in flight`)
    const call = { id, method, counted, controller: new AbortController(), abort: undefined, cancelled: false, grace: undefined, answered: false }
    if (counted) this.servingCounted++
    this.serving.set(id, call)
    this.answer(call, params)
  }

  async answer(call, params) {
    let text
    try {
      const result = await this.serve(call.method, params, call)
      text = `{"jsonrpc":"2.0","id":${call.id},"result":${result}}`
      if (call.cancelled) throw new RpcError(CODE.Cancelled, 'cancelled')
    } catch (error) {
      text = this.errorAnswer(call, error)
    }
    this.finish(call, text)
  }

  errorAnswer(call, error) {
    const code = call.cancelled ? CODE.Cancelled : error instanceof RpcError ? error.code : CODE.Internal
    const message = call.cancelled ? 'cancelled' : error instanceof RpcError ? error.message : errorText(error, ERROR_BYTES_MAX)
    return objectText([
      ['jsonrpc', '"2.0"'],
      ['id', `${call.id}`],
      ['error', objectText([['code', `${code}`], ['message', quote(boundText(message, ERROR_BYTES_MAX))]])],
    ])
  }

  finish(call, text) {
    if (call.answered) return
    call.answered = true
    clearTimer(call.grace)
    this.serving.delete(call.id)
    if (call.counted) this.servingCounted--
    try {
      this.send(text)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.send(this.errorAnswer(call, new RpcError(CODE.ExecutionFailed, error.message)))
    }
  }

  /* The core has forgotten the call when it sends this: its slot is free at once, the handler gets a grace to stop. */
  onCancel(params) {
    if (!isId(params.id)) throw new ProtocolError('$/cancel needs the id of a request')
    const call = this.serving.get(params.id)
    if (call === undefined || call.cancelled) return
    call.cancelled = true
    if (call.counted) {
      call.counted = false
      this.servingCounted--
    }
    call.grace = setTimer(() => this.finish(call, this.errorAnswer(call, null)), CANCEL_GRACE_MS)
    if (call.abort) call.abort()
    else call.controller.abort()
  }
}
