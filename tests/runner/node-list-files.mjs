// SPDX-License-Identifier: MIT
// Loads each test file given, one after another, with the stub of node-list.mjs in place.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { state } from './node-list-stub.mjs';

for (const file of process.argv.slice(2)) {
  state.file = basename(file, '.test.mjs');
  await import(pathToFileURL(file).href);
}
process.exit(0);
