// SPDX-License-Identifier: MIT
// Stands in for "node:test": prints the name of each test, as node-reporter.mjs has it, and calls no test.
const path = [];

export const state = { file: '' };

function name(first) {
  return typeof first === 'string' ? first : first?.name || '<anonymous>';
}

export function test(first) {
  console.log([state.file, ...path, name(first)].join(' > ').replace(/[#\n]/g, ' '));
  return Promise.resolve();
}

export function describe(first, ...rest) {
  const body = [first, ...rest].find((part) => typeof part === 'function');
  path.push(name(first));
  const result = body?.({});
  path.pop();
  return Promise.resolve(result);
}

function nothing() {}

for (const one of [test, describe]) Object.assign(one, { skip: one, todo: one, only: one });
Object.assign(test, { test, it: test, describe, suite: describe, before: nothing, after: nothing, beforeEach: nothing, afterEach: nothing });
export { test as it, describe as suite, nothing as before, nothing as after, nothing as beforeEach, nothing as afterEach };
export const mock = new Proxy({}, { get: () => nothing });
export default test;
