// SPDX-License-Identifier: MIT
//
// ctx.tools (contract 4.1)
import { NotJsonError, encodeJson, objectText, quote, utf8Length } from '../json.mjs'
import { checkFunction, checkKeys, checkText, propose } from '../registration.mjs'
import { frozenService } from '../cordis.mjs'
import { freeze } from '../primordials.mjs'
import { CODE, RESULT_BYTES_MAX } from '../limits.mjs'
import { RpcError } from '../rpc.mjs'
import { coreOf } from '../core.mjs'
import { callLabels } from './call.mjs'

const KEYS = ['name', 'description', 'parameters', 'execute', 'output']

/* resultText(): text becomes one block; JSON is kept as it is beside a text for the model. */
export function resultText(value) {
  let structured
  let text
  if (typeof value === 'string') {
    text = quote(value)
  } else {
    try {
      structured = encodeJson(value, { name: 'the result' })
    } catch (error) {
      if (!(error instanceof NotJsonError)) throw error
      throw new RpcError(CODE.ExecutionFailed, `${error.message}; a tool returns text or JSON`)
    }
    text = quote(structured)
  }
  if (utf8Length(text) + (structured === undefined ? 0 : utf8Length(structured)) > RESULT_BYTES_MAX)
    throw new RpcError(CODE.ExecutionFailed, `the result is larger than ${RESULT_BYTES_MAX} bytes`)
  return objectText([['content', `[{"type":"text","text":${text}}]`], ['is_error', 'false'], ['structured', structured]])
}

async function runTool(execute, registration, params, signal) {
  const { ticket, call_id: callId, input } = params
  const core = ticket === undefined ? undefined : coreOf(registration.entry, ticket, signal)
  const exec = { signal, callId, args: input, ...callLabels(registration.entry, params) }
  if (core !== undefined) exec.core = core.handle
  try {
    return resultText(await execute(input, freeze(exec)))
  } finally {
    core?.end()
  }
}

export const tools = frozenService({
  register(tool) {
    checkKeys('tools.register', tool, KEYS)
    const { name, description, parameters, execute } = tool
    checkFunction('the execute of a tool', execute)
    const spec = [
      ['name', checkText('the name of a tool', name)],
      ['description', checkText('the description of a tool', description)],
      ['input_schema', encodeJson(parameters, { strict: true, name: 'parameters' })],
    ]
    return propose(this.ctx, 'tool', name, spec, (...args) => runTool(execute.bind(tool), ...args))
  },
})
