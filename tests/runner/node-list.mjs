// SPDX-License-Identifier: MIT
// Loaded before test files to name their tests without running them: "node:test" becomes tests/runner/node-list-stub.mjs.
import { register } from 'node:module';

register(`data:text/javascript,${encodeURIComponent(`
const stub = ${JSON.stringify(new URL('./node-list-stub.mjs', import.meta.url).href)};
export async function resolve(specifier, context, next) {
  return specifier === 'node:test' ? { url: stub, shortCircuit: true } : next(specifier, context);
}
`)}`);
