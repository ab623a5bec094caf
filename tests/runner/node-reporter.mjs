// SPDX-License-Identifier: MIT
// A flat TAP of what `node --test` finds: one line a test, named file > suite > test; suites themselves are not counted.
import { basename } from 'node:path';

const path = [];

function describe(error) {
  const cause = error?.cause ?? error;
  return String(cause?.stack ?? cause).split('\n').map((line) => `# ${line}\n`).join('');
}

export default async function* report(source) {
  let number = 0;
  for await (const { type, data } of source) {
    if (type === 'test:start') path[data.nesting] = data.name;
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message.replace(/^/gm, '# ').replace(/# $/, '');
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details?.type === 'suite') {
      // A suite that fails on its own, not by its tests, would go unseen otherwise.
      if (type === 'test:pass' || data.details.error?.failureType === 'subtestsFailed') continue;
    }
    number += 1;
    path[data.nesting] = data.name;
    const name = [basename(data.file ?? '', '.test.mjs'), ...path.slice(0, data.nesting + 1)].join(' > ').replace(/[#\n]/g, ' ');
    const skipped = data.skip !== undefined ? ` # SKIP ${data.skip === true ? '' : data.skip}` : '';
    if (type === 'test:fail') yield describe(data.details?.error);
    yield `${type === 'test:fail' ? 'not ok' : 'ok'} ${number} ${name}${skipped}\n`;
  }
  yield `1..${number}\n`;
}
