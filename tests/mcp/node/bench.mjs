// bench.mjs - times what a client waits for: bench/mcp runs it against two servers in turns.
//     node bench.mjs TREE ROUNDS COMMAND [ARGUMENT]...        prints one line of JSON, in ms
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [, , tree, rounds, command, ...args] = process.argv;
const times = {};

async function time(name, act) {
  const begun = process.hrtime.bigint();
  const result = await act();
  (times[name] ??= []).push(Number(process.hrtime.bigint() - begun) / 1e6);
  return result;
}

async function connect() {
  const client = new Client({ name: 'bench', version: '1' }, { capabilities: {} });
  const transport = new StdioClientTransport({ command, args, cwd: tree, env: process.env, stderr: 'ignore' });
  await client.connect(transport);
  return [client, transport];
}

/** Memory of the server and all it started, in MB. */
function memory(pid) {
  const field = /^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return Number(field[1]) / 1024 + children.reduce((sum, child) => sum + memory(child), 0);
}

for (let i = 0; i < 5; i++) {
  const [client] = await time('start', connect);
  await client.close();
}
const [client, transport] = await connect();
const call = async (name, given) => {
  const result = await client.callTool({ name, arguments: given });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content).slice(0, 300)}`);
  return result.content[0].text;
};
const file = path.join(tree, 'd000', 'f000.txt');
const made = path.join(tree, 'made.txt');
for (let i = -10; i < Number(rounds); i++) {
  const run = i < 0 ? (_, act) => act() : time; // the first ones warm up
  await run('ping', () => client.ping());
  assert.match(await run('read', () => call('read_text_file', { path: file })), /^line 1\n/);
  await run('write', () => call('write_file', { path: made, content: `text ${i}\n`.repeat(50) }));
  await run('edit', () => call('edit_file', { path: made, edits: [{ oldText: `text ${i}\n`.repeat(50), newText: 'edited\n' }] }));
  assert.equal((await run('list', () => call('list_directory', { path: path.join(tree, 'd000') }))).split('\n').length, 100);
  await run('sizes', () => call('list_directory_with_sizes', { path: path.join(tree, 'd000') }));
  await run('info', () => call('get_file_info', { path: file }));
}
for (let i = 0; i < 5; i++) {
  const found = await time('search', () => call('search_files', { path: tree, pattern: '**/f042.txt' }));
  assert.equal(found.split('\n').length, 200);
  assert.ok(JSON.parse(await time('tree', () => call('directory_tree', { path: tree }))).length >= 200);
}
times.rss = [memory(transport.pid)];
await client.close();
fs.unlinkSync(made);
console.log(JSON.stringify(times));
