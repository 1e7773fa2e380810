// modern.mjs - the v2 client, which probes 2026-07-28 with a second server, against sandbash --mcp.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { command, everything, person, project, rest } from './common.mjs';

for (const mode of ['auto', { pin: '2026-07-28' }]) {
  if (mode !== 'auto') {
    const pinned = new Client({ name: 'pinned-test', version: '1' }, { versionNegotiation: { mode } });
    await pinned.connect(new StdioClientTransport({ command, args: ['--mcp', ...rest], cwd: project, env: process.env, stderr: 'inherit' }));
    assert.equal(pinned.getNegotiatedProtocolVersion(), '2026-07-28');
    await pinned.close();
    continue;
  }
  const client = new Client({ name: 'modern-test', version: '1' }, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', async (request) => person(request));
  await client.connect(new StdioClientTransport({ command, args: ['--mcp', ...rest], cwd: project, env: process.env, stderr: 'inherit' }));
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  const { data } = await everything(client);
  const seen = [];
  await data('run_command', { command: 'echo a; sleep 0.3; echo b; sleep 0.3' }, [{ onprogress: (step) => seen.push(step.message) }]);
  assert.equal(seen.join(''), 'a\nb\n');
  await assert.rejects(client.callTool({ name: 'run_command', arguments: { command: 'sleep 30' } }, { timeout: 400 }));
  await data('list_allowed_directories', {});
  await client.close();
}
console.log('done');
