// SPDX-License-Identifier: MIT
//
// The plugin that tries to get out: one tool, which tries one way.
import { attempt } from './ways/index.mjs'

export const inject = ['tools']

export function apply(ctx) {
  ctx.tools.register({
    name: 'escape_try',
    description: 'Tries one way out of the sandbox and says what came of it.',
    parameters: { type: 'object', required: ['name', 'world'], properties: { name: { type: 'string' }, world: { type: 'object' } } },
    execute: ({ name, world }) => attempt(name, world),
  })
}
