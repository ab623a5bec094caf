// SPDX-License-Identifier: MIT
export const inject = []

export function apply(ctx) {
  ctx.on('tools/pre-execute', (call, next) => next())
}
