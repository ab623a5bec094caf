// SPDX-License-Identifier: MIT
//
// exec.core (contract 6.2): the running call asks the core to run one of the core's tools. The handle lives as long as the call.
import { CODE, CORE_NAME_CHARS_MAX } from './limits.mjs'
import { encodeJson, objectText, quote } from './json.mjs'
import { RpcError, isObject } from './rpc.mjs'
import { CoreCallError } from './errors.mjs'
import { freeze, isArray } from './primordials.mjs'

const CODES = {
  __proto__: null,
  [CODE.Refused]: 'refused', [CODE.Denied]: 'denied', [CODE.Cancelled]: 'cancelled', [CODE.NotAvailable]: 'unavailable',
}

/* The core is trusted, its answer is checked all the same: an extension should not trip over half of a result. */
function resultOf(answer) {
  const { content, is_error: isError, structured } = isObject(answer) ? answer : {}
  const sound = isArray(content) && typeof isError === 'boolean' &&
    content.every(block => isObject(block) && block.type === 'text' && typeof block.text === 'string')
  if (!sound) throw new CoreCallError('failed', 'the core answered with something that is not a result')
  return structured === undefined ? { content, isError } : { content, isError, structured }
}

/* coreOf() -> {handle, end}: the frozen object for exec.core, and what ends it with its call */
export function coreOf(entry, ticket, callSignal) {
  const ending = new AbortController()
  let ended = false

  async function call(name, input = {}, { signal } = {}) {
    if (ended || !entry.isUsable()) throw new CoreCallError('unavailable', 'the call that this handle belongs to has ended')
    if (typeof name !== 'string' || name.length < 1 || name.length > CORE_NAME_CHARS_MAX || !isObject(input))
      throw new CoreCallError('refused', `core.call() needs a name of 1 to ${CORE_NAME_CHARS_MAX} characters and an object`)
    const text = encodeJson(input, { strict: true, name: 'the input' })
    const signals = [ending.signal, callSignal]
    if (signal !== undefined && signal !== null) signals.push(signal)
    try {
      return resultOf(await entry.host.channel.request('core/call', objectText([
        ['owner', entry.owner.text], ['ticket', quote(ticket)], ['name', quote(name)], ['input', text],
      ]), AbortSignal.any(signals)))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      throw new CoreCallError(CODES[error.code] ?? 'failed', error.message)
    }
  }

  return { handle: freeze({ __proto__: null, call: freeze(call) }), end: () => { ended = true; ending.abort() } }
}
