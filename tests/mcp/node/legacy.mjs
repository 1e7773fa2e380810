// legacy.mjs - the official SDK's client (up to 2025-11-25) against sandbash --mcp.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { pathToFileURL } from 'node:url';
import { command, everything, person, project, rest } from './common.mjs';

const client = new Client({ name: 'legacy-test', version: '1' }, { capabilities: { elicitation: {}, roots: {} } });
client.setRequestHandler(ElicitRequestSchema, async (request) => person(request));
client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: pathToFileURL(project).href }] }));
await client.connect(new StdioClientTransport({ command, args: ['--mcp', ...rest], cwd: project, env: process.env, stderr: 'inherit' }));
assert.equal(client.getServerVersion().name, 'sandbash');
await client.ping();
const { data } = await everything(client);

// progress, and cancelling by the client's own timeout
const seen = [];
await data('run_command', { command: 'echo a; sleep 0.3; echo b; sleep 0.3' }, [CallToolResultSchema, { onprogress: (step) => seen.push(step.message) }]);
assert.equal(seen.join(''), 'a\nb\n');
await assert.rejects(client.callTool({ name: 'run_command', arguments: { command: 'sleep 30' } }, CallToolResultSchema, { timeout: 400 }));
await data('list_allowed_directories', {});
await client.close();
console.log('done');
