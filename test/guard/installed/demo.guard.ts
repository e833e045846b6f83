import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sdkPackage } from '../../../src/claude/agent/claude-sdk.js';
import { openSqlite } from '../../../src/journal/index.js';
import { tables } from '../../../src/journal/internal.js';
import { headSum } from '../../../src/journal/rows/row-sums.js';
import { claudeEnvironment, untilNothingRunsIn } from '../../claude/installed/claude-lab.js';
import { installSdk } from '../../claude/installed/install-sdk.js';
import { GuardProcess } from '../../support/guard-process.js';
import { MessagesApi } from '../../support/messages-api/messages-api.js';
import { calls, held, says } from '../../support/messages-api/reply.js';

const page = readFileSync(new URL('../../../docs/guard.md', import.meta.url), 'utf8');

/** The first block of the page in a language. */
const shownIn = (language: string): string =>
  page.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';

/** The real program of Claude Code, which the SDK brings. */
async function claudeProgram(): Promise<string> {
  const scope = join(await installSdk(), 'node_modules', dirname(sdkPackage));
  const name = readdirSync(scope).find((one) => one.includes(`-${process.platform}-`));
  return join(scope, name ?? '', 'claude');
}

/** Runs Claude Code in the project of a guard. */
async function runClaude(guard: GuardProcess, apiUrl: string): Promise<void> {
  const home = join(guard.folder.path, '.home');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  const args = ['-p', 'Deploy the project.', '--model', 'sonnet', '--allowedTools', 'Bash'];
  const child = spawn(await claudeProgram(), args, {
    cwd: guard.folder.path,
    env: claudeEnvironment(home, apiUrl),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const code = await new Promise((settle) => child.once('close', settle));
  expect(code, said).toBe(0);
  await untilNothingRunsIn(home);
}

const bash = (id: string, command: string) =>
  says(calls(id, 'Bash', { command, description: 'x' }));

/** The results of tools that the model has read last, in order. */
function resultsIn({ requests }: MessagesApi): readonly string[] {
  const messages = (requests.at(-1)?.messages ?? []).map((text) => Object(JSON.parse(text)));
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}

it('refuses, asks on Telegram, outlives its death, and lets a call run once: with the real Claude Code', async () => {
  await using guard = await GuardProcess.start(shownIn('yaml'));
  const { path } = guard.folder;
  guard.folder.write('keep/file', 'kept');
  chmodSync(guard.folder.write('deploy', '#!/bin/sh\necho "$1" >> runs\n'), 0o755);
  const killed = (async () => {
    await expect.poll(() => guard.questions.length).toBe(1);
    await guard.kill(); // while the hook waits for the answer
  })();
  const startedAgain = async (): Promise<void> => {
    await killed;
    await guard.run();
    guard.say('not on a Friday');
  };
  const allowed = (async () => {
    await expect.poll(() => guard.questions.length).toBe(2);
    guard.press('Allow once');
  })();
  await using api = await MessagesApi.start({
    main: [
      bash('c1', 'rm -rf keep'),
      bash('c2', './deploy one'),
      held(startedAgain, ...bash('c3', './deploy one').blocks),
      bash('c4', './deploy two'),
      says('All is done.'),
    ],
  });
  await runClaude(guard, api.url);
  await Promise.all([killed, allowed]);
  const [refused = '', cut = '', denied = '', ran = '', ...more] = resultsIn(api);
  expect(more).toEqual([]);
  expect(refused).toContain('Delete files one by one.');
  expect(cut).toMatch(/hook/i); // it was refused, since no guard gave an answer
  expect(denied).toContain('a human denied it: not on a Friday');
  expect(ran).not.toMatch(/denied|refused|hook/i);
  expect(existsSync(join(path, 'keep/file'))).toBe(true);
  expect(readFileSync(join(path, 'runs'), 'utf8')).toBe('two\n');
  expect(guard.questions.map((text) => text.split('\n\n')[2])).toEqual([
    'shell\ncommand: ./deploy one\ndescription: x',
    'shell\ncommand: ./deploy two\ndescription: x',
  ]);
  expect(await guard.stop()).toMatchObject({ code: 0 });
  for (const words of [refused, denied, ...guard.questions]) expect(page).toContain(told(words));
  expect(JSON.parse(shownIn('json'))).toEqual(asShown(guard.config()));
  const verify = () => guard.sluice(...shownVerify.split(' ').slice(1));
  expect(page).toContain(`\n${shownVerify}\n`);
  expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^good; /) });
  letPass(guard.journal);
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^changed: /m) });
});

const shownVerify = 'sluice verify --journal .sluice/guard.db --key .sluice/guard.db.key';

/** Has the record say that the first call passed, as somebody does who makes the sum of its row fit. */
function letPass(journal: string): void {
  using database = openSqlite(journal);
  const first = `SELECT * FROM dispatches WHERE family = 'agent.tool.calling' ORDER BY seq LIMIT 1`;
  const { seq, ...row } = Object(database.prepare(first).get());
  expect(row).toMatchObject({ status: 'cancelled' });
  const sum = headSum(tables.dispatchesTable, { ...row, seq, status: 'passed' });
  const edit = `UPDATE dispatches SET status = 'passed', sum = ? WHERE seq = ?`;
  database.prepare(edit).run(sum, seq);
}

/** A config as the page shows it: without the places of the test. */
function asShown({ extensions: [guard, telegram], ...config }: ReturnType<GuardProcess['config']>) {
  return {
    ...config,
    extensions: [
      { ...guard, config: { ...guard.config, port: 7_867 } },
      { ...telegram, config: { allowFrom: [42] } },
    ],
  };
}

/** Words of the demo as the page shows them: without the folder of the test. */
function told(words: string): string {
  return words.replace(/in \/\S+:/, 'in /home/ada/project:').trim();
}
