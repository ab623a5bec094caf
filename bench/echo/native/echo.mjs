// SPDX-License-Identifier: MIT
export const inject = ['tools']

export function apply(ctx) {
  ctx.tools.register({
    name: 'bench_echo',
    description: 'Answers with the text that it is given.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
    execute: ({ text }) => text,
  })
}
