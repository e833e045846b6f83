// Uses in one run all that Sluice needs of a runtime. Node, Bun and Deno run it beside the installed package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { allow, cancel, createKernel, defineExtension, select } from 'sluice';
import { loadExtension, loadExtensionModule } from 'sluice/extension';
import { memoryJournal, openJournal } from 'sluice/host';
import {
  expectCancelled,
  expectPassed,
  expectReply,
  samplePayload,
  startTestHost,
} from 'sluice/testing';

const runtime = process.versions.bun ? 'bun' : process.versions.deno ? 'deno' : 'node';
const place = (name) => join(process.cwd(), `smoke-${runtime}-${name}`);
const steps = [];
const step = (name, run) => steps.push([name, run]);

step('each class of handler, in a parallel, a sequential and a sync stage', async () => {
  const kernel = createKernel();
  const seen = [];
  const every = defineExtension({
    id: 'every',
    setup(api) {
      api.observe('ingress.received', 'see', ({ payload }) => {
        seen.push(payload.channel);
      });
      api.augment('egress.preparing', 'tell', () => ({ language: 'en' }));
      api.mutate('egress.preparing', 'sign', ({ payload }) => ({ content: `${payload.content}!` }));
      api.resolve('egress.preparing', 'by', () => select({ channel: 'post', accountId: 'a' }));
      api.veto('egress.preparing', 'judge', ({ payload }) =>
        payload.content.startsWith('no') ? cancel('policy') : allow(),
      );
      api.mutate('transcript.message.writing', 'cut', ({ payload }) => ({
        message: { ...payload.message, content: 'cut' },
      }));
    },
  });
  assert.equal((await loadExtension(kernel, every)).status, 'loaded');
  await kernel.dispatch('ingress.received', {
    ...samplePayload('ingress.received'),
    channel: 'post',
  });
  assert.deepEqual(seen, ['post']);
  const accounts = [{ channel: 'post', accountId: 'a' }];
  const sent = { ...samplePayload('egress.preparing'), content: 'yes', explicit: false, accounts };
  const passed = expectPassed(await kernel.dispatch('egress.preparing', sent));
  assert.equal(passed.payload.content, 'yes!');
  assert.equal(passed.annotations.language, 'en');
  assert.equal(passed.selection.target.channel, 'post');
  expectCancelled(await kernel.dispatch('egress.preparing', { ...sent, content: 'no' }), {
    by: 'every/judge',
  });
  const written = kernel.dispatchSync(
    'transcript.message.writing',
    samplePayload('transcript.message.writing'),
  );
  assert.equal(expectPassed(written).payload.message.content, 'cut');
});

const mark = `import { defineExtension } from 'sluice';
enum Mark { end = '!' }
export default defineExtension({
  id: 'mark',
  setup: (api) => api.mutate('egress.preparing', 'end', ({ payload }) => ({ content: payload.content + Mark.end })),
});
`;
writeFileSync(place('mark.ts'), mark);

step('an extension in TypeScript, and a message in a host with a journal in memory', async () => {
  const extension = await loadExtensionModule(place('mark.ts'));
  const test = await startTestHost({ extensions: [extension], journal: memoryJournal() });
  expectReply(await test.say('hello'), 'hello!');
  await test[Symbol.asyncDispose]();
});

step('a journal in a file, which outlives its host', async () => {
  const file = place('kept.db');
  for (const ending of ['', '-wal', '-shm', '-lock']) rmSync(file + ending, { force: true });
  for (const [text, updateId] of [
    ['hello', 'update-1'],
    ['again', 'update-2'],
  ]) {
    const journal = await openJournal(file);
    let end;
    const ended = new Promise((resolve) => {
      end = resolve;
    });
    const test = await startTestHost({ journal, store: journal.store, onMessageEnd: end });
    await test.channel.receive({ text }, updateId);
    const { sessionKey } = await ended;
    assert.deepEqual(test.replies(), [text]);
    const said = (await test.transcript(sessionKey)).filter(({ role }) => role === 'user');
    assert.equal(said.length, updateId === 'update-1' ? 1 : 2);
    await test[Symbol.asyncDispose]();
    await journal.close();
  }
});

step('the command line, with a journal and an extension in TypeScript', () => {
  const file = place('cli.db');
  for (const ending of ['', '-wal', '-shm', '-lock']) rmSync(file + ending, { force: true });
  const program = join(process.cwd(), 'node_modules/sluice/dist/cli/main.js');
  const own = runtime === 'deno' ? ['run', '-A'] : [];
  const sluice = (args, input) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...own, program, ...args], {
      input,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  assert.equal(
    sluice(['run', '--quiet', '--journal', file, '--extension', place('mark.ts')], 'hello\n'),
    'hello!\n',
  );
  assert.match(sluice(['journal', 'list', '--journal', file], ''), /answered/);
  assert.match(sluice(['stages', '--extension', place('mark.ts')], ''), /mark\/end/);
  sluice(['doctor', '--extension', place('mark.ts')], '');
});

let failures = 0;
for (const [name, run] of steps)
  try {
    await run();
    console.log(`${runtime} ok: ${name}`);
  } catch (error) {
    failures++;
    console.error(`${runtime} FAILED: ${name}\n`, error);
  }
process.exitCode = failures === 0 ? 0 : 1;
