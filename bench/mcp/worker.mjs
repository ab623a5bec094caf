// SPDX-License-Identifier: MIT
// A client of the MCP SDK that measures when it is told to. Lines in: "connect", "mcp CALLS WINDOW SIZE", "memory"; one JSON object out for each.
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url));
let client;
let transport;

async function connect() {
  const began = process.hrtime.bigint();
  transport = new StdioClientTransport({ command: process.execPath, args: [SERVER], env: { PATH: process.env.PATH } });
  client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  await client.callTool({ name: 'echo', arguments: { text: 'first' } });
  return { ms: Number(process.hrtime.bigint() - began) / 1e6 };
}

/* A fresh server to its first answer; the one in use stays. */
async function cold() {
  const kept = [client, transport];
  const result = await connect();
  await client.close();
  [client, transport] = kept;
  return result;
}

async function measure(calls, window, size) {
  const text = 'x'.repeat(size);
  const latencies = [];
  let left = calls;
  const work = async () => {
    while (left-- > 0) {
      const began = process.hrtime.bigint();
      const reply = await client.callTool({ name: 'echo', arguments: { text } });
      if (reply.content[0].text.length !== size) throw new Error('another text came back');
      latencies.push(Number(process.hrtime.bigint() - began) / 1e3);
    }
  };
  const began = process.hrtime.bigint();
  await Promise.all(Array.from({ length: window }, work));
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return { p50_us: at(0.5), p99_us: at(0.99), per_s: calls / seconds };
}

function memory() {
  const text = readFileSync(`/proc/${transport.pid}/smaps_rollup`, 'utf8');
  const of = (name) => Number(text.match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))[1]) / 1024;
  return { rss_mb: of('Rss'), pss_mb: of('Pss') };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...numbers] = line.split(' ');
  const result = word === 'connect' ? await connect() : word === 'cold' ? await cold() : word === 'memory' ? memory()
    : await measure(...numbers.map(Number));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
await client?.close();
