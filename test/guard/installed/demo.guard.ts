import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sdkPackage } from '../../../src/claude/agent/claude-sdk.js';
import { claudeEnvironment, untilNothingRunsIn } from '../../claude/installed/claude-lab.js';
import { installSdk } from '../../claude/installed/install-sdk.js';
import { GuardProcess } from '../../support/guard-process.js';
import { MessagesApi } from '../../support/messages-api/messages-api.js';
import { calls, held, says } from '../../support/messages-api/reply.js';

const policies = `
- id: no-rm-rf
  family: agent.tool.calling
  match: { toolName: shell }
  deny when: "params.command.contains('rm -rf')"
  text: Delete files one by one.
  expect: [{ payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }]
- id: ask-deploy
  family: agent.tool.calling
  match: { toolName: shell }
  ask when: "params.command.contains('deploy')"
  title: Deploy?
  expect: [{ payload: { toolName: shell, params: { command: ./deploy } }, is: asked }]
`;

/** The real program of Claude Code, which the SDK brings. */
async function claudeProgram(): Promise<string> {
  const scope = join(await installSdk(), 'node_modules', dirname(sdkPackage));
  const name = readdirSync(scope).find((one) => one.includes(`-${process.platform}-`));
  return join(scope, name ?? '', 'claude');
}

/** Writes the hooks of Claude Code, as \`sluice guard init\` does. */
async function hookClaude(guard: GuardProcess): Promise<void> {
  const { port, token } = await guard.door();
  const hook = (name: string) => ({
    ...{ type: 'http', url: `http://127.0.0.1:${port}/hook/claude/${name}`, timeout: 600 },
    ...{ headers: { Authorization: `Bearer ${token}` }, onFailure: 'block' },
  });
  const group = (name: string) => [{ hooks: [hook(name)] }];
  const hooks = { PreToolUse: group('PreToolUse'), PostToolUse: group('PostToolUse') };
  const file = guard.folder.write('.claude/settings.local.json', JSON.stringify({ hooks }));
  chmodSync(file, 0o600);
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
  await using guard = await GuardProcess.start(policies);
  const { path } = guard.folder;
  guard.folder.write('keep/file', 'kept');
  chmodSync(guard.folder.write('deploy', '#!/bin/sh\necho "$1" >> runs\n'), 0o755);
  await hookClaude(guard);
  const { port } = await guard.door();
  const killed = (async () => {
    await expect.poll(() => guard.questions.length).toBe(1);
    await guard.kill(); // while the hook waits for the answer
  })();
  const startedAgain = async (): Promise<void> => {
    await killed;
    listenAt(guard, port);
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
  const shown = readFileSync(new URL('../../../docs/guard.md', import.meta.url), 'utf8');
  for (const words of [refused, denied, ...guard.questions]) expect(shown).toContain(told(words));
});

/** Words of the demo as the page shows them: without the folder of the test. */
function told(words: string): string {
  return words.replace(/in \/\S+:/, 'in /home/ada/project:').trim();
}

/** Has the guard listen where the hooks call, when it starts anew. */
function listenAt(guard: GuardProcess, port: number): void {
  const file = join(guard.folder.path, '.sluice/guard.config.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"port":0', `"port":${port}`));
}
