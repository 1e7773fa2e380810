// common.mjs - what both clients check, with the API that they share.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

export const [, , command, project, outside, ...rest] = process.argv;
export const asked = [];

/** A person: says yes once to everything but what is called "no". */
export async function person(request) {
  asked.push(request.params);
  assert.match(request.params.message, /wants to/);
  const property = request.params.requestedSchema.properties.answer;
  assert.ok(property.enum.includes('once') && property.enum.includes('deny'));
  if (request.params.message.includes('no.txt')) {
    await new Promise((later) => setTimeout(later, 150)); // sooner, and it was no person
    return { action: 'decline' };
  }
  return { action: 'accept', content: { answer: 'once' } };
}

export async function everything(client) {
  const { tools } = await client.listTools();
  assert.ok(tools.length >= 20);
  for (const tool of tools) assert.ok(tool.title && tool.outputSchema && tool.annotations, tool.name);
  const call = async (name, args, options) => {
    const result = await client.callTool({ name, arguments: args }, ...(options ?? []));
    return result;
  };
  const data = async (name, args, options) => {
    const result = await call(name, args, options);
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
    return result.structuredContent;
  };

  // files, with the client's own check of every result against its schema
  await data('write_file', { path: 'n.txt', content: 'one\ntwo\n' });
  assert.equal((await data('read_text_file', { path: 'n.txt' })).content, 'one\ntwo\n');
  await data('edit_file', { path: 'n.txt', edits: [{ oldText: 'two', newText: 'three' }] });
  await data('create_directory', { path: 'd' });
  await data('copy_file', { source: 'n.txt', destination: 'd/m.txt' });
  await data('move_file', { source: 'd/m.txt', destination: 'd/k.txt' });
  for (const name of ['list_directory', 'list_directory_with_sizes', 'directory_tree', 'get_file_info'])
    await data(name, { path: '.' });
  await data('read_media_file', { path: 'n.txt' });
  await data('read_multiple_files', { paths: ['n.txt', 'missing'] });
  await data('search_files', { path: '.', pattern: '**/*.txt' });
  assert.equal((await data('glob', { pattern: '**/k.txt' })).files.length, 1);
  assert.equal((await data('grep', { pattern: 'thr.e' })).matches, 2);
  await data('delete_file', { path: 'd', recursive: true });
  await data('what_may_i_do', {});
  await data('what_may_i_do', { path: outside });
  await data('list_allowed_directories', {});

  // errors pass the same check
  for (const [name, args] of [['read_text_file', { path: 'missing' }], ['read_media_file', { path: 'missing' }],
    ['edit_file', { path: 'n.txt', edits: [{ oldText: 'zz', newText: '' }] }],
    ['run_command', { command: 'true', cwd: outside }], ['command_status', { runId: 'none' }]]) {
    const result = await call(name, args);
    assert.ok(result.isError && result.structuredContent.error.code, name);
  }

  // consent: an approved write outside, a refused one, a held system call
  await data('write_file', { path: path.join(outside, 'yes.txt'), content: 'yes' });
  assert.equal(fs.readFileSync(path.join(outside, 'yes.txt'), 'utf8'), 'yes');
  const refused = await call('write_file', { path: path.join(outside, 'no.txt'), content: 'no' });
  assert.equal(refused.structuredContent.error.code, 'DENIED');
  assert.ok(!fs.existsSync(path.join(outside, 'no.txt')));
  const run = await data('run_command', { command: `echo held > '${outside}/held.txt' && echo fine` });
  assert.deepEqual([run.exitCode, run.stdout], [0, 'fine\n']);
  assert.equal(asked.length, 3);

  // asking ahead, and for one command
  fs.mkdirSync(path.join(outside, 'second'));
  const ahead = await data('request_access', { path: path.join(outside, 'ahead.txt'), operations: ['create', 'modify'],
    reason: 'the test wants it' });
  assert.deepEqual([ahead.granted, ahead.outcome, ahead.until], [true, 'granted', 'next use']);
  await data('run_command', { command: 'true', access: 'read-only', network: 'off', writableRoots: undefined });
  const wide = await data('run_command', { command: `echo x > '${outside}/wide.txt'`, writableRoots: [outside] });
  assert.equal(wide.exitCode, 0);
  const project = await data('open_project', { path: path.join(outside, 'second'), reason: 'the test wants it' });
  assert.equal(project.outcome, 'granted');
  await data('write_file', { path: path.join(outside, 'second', 'in.txt'), content: 'x' });
  assert.equal((await data('what_may_i_do', {})).grants.length, 4);
  const denied = await call('request_access', { path: path.join(outside, 'no.txt'), operations: ['delete'], reason: 'no' });
  assert.deepEqual([denied.isError, denied.structuredContent.outcome], [true, 'denied']);
  assert.equal(asked.length, 6);

  // resources
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri === 'sandbash://policy'));
  const policy = await client.readResource({ uri: 'sandbash://policy' });
  assert.match(policy.contents[0].text, /write/);
  await client.readResource({ uri: 'sandbash://audit' });
  await client.listResourceTemplates();
  await assert.rejects(client.readResource({ uri: 'sandbash://none' }));

  // many at once
  await Promise.all(Array.from({ length: 200 }, () => data('read_text_file', { path: 'n.txt' })));
  return { tools, data, call };
}
