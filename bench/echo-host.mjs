// SPDX-License-Identifier: MIT
// The least that a JavaScript host can be: lines of JSON over the socket pair that is standard input and output.
import { Socket } from 'node:net';

const channel = new Socket({ fd: 0, readable: true, writable: true });
channel.setEncoding('utf8');
let pending = '';
channel.on('data', (chunk) => {
  pending += chunk;
  let out = '';
  let from = 0;
  for (let end; (end = pending.indexOf('\n', from)) >= 0; from = end + 1) {
    const { id, input } = JSON.parse(pending.slice(from, end));
    out += `${JSON.stringify({ id, ok: true, output: { text: input.text } })}\n`;
  }
  pending = pending.slice(from);
  if (out) channel.write(out);
});
channel.on('end', () => process.exit(0));
