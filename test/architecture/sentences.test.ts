import { describe, expect, it } from 'vitest';
import { ownSentences } from '../support/sentences.js';
import { sourceFiles } from '../support/source-tree.js';

/** The rooms and packages whose texts people may get. */
const speaking =
  /^(src\/(host|agent|claude\/gate|sdk\/cha\w+)|extensions\/(acp|budget|guard|http|judge|openai|policies|quiet-hours|rate-limit|slack|telegram)\/src)\//;

/** The tables themselves, and texts of errors and settings. */
const tables = /host-texts\.ts$|\/texts\.ts$|errors\.ts$|^src\/host\/config\/|\/config\.ts$/;

/** Sentences that nobody gets in a chat from the host, and why. */
const accepted: Readonly<Record<string, string>> = {
  'src/host/parts/troubles.ts': 'for the operator, in health and in the inspector',
  'src/host/ingress/run-chat-command.ts': 'the reason of an end, for operators',
  'src/agent/reply/create-reply-callbacks.ts':
    'of a failed run, for operators: people get message-failed',
  'src/agent/tools/tool-answer.ts': 'a model reads it',
  'src/agent/turn/said/echo.ts': 'the agent for trying out',
  'src/claude/gate/sdk-question.ts': 'the title of a question of the agent: docs/limits.md',
  'extensions/budget/src/budget-command.ts': 'docs/limits.md',
  'extensions/acp/src/turn.ts': 'the title of a question of the agent: docs/limits.md',
  'extensions/guard/src/agents/claude.ts': 'the name of a parameter',
  'extensions/guard/src/agents/dialect.ts': 'a model reads it',
  'extensions/guard/src/agents/gemini.ts': 'the name of a parameter',
  'extensions/guard/src/agents/opencode.ts': 'the name of a parameter',
  'extensions/guard/src/commands/commands.ts': 'for the operator, on the command line',
  'extensions/guard/src/install/places.ts': 'for the operator, on the command line',
  'extensions/openai/src/chat-messages.ts': 'a model reads it',
  'extensions/openai/src/compact.ts': 'a model reads it',
  'extensions/openai/src/kept-history.ts': 'a model reads it',
  'extensions/openai/src/mcp-server.ts': 'the cure of an error',
  'extensions/openai/src/openai-agent.ts': 'a model reads it',
  'extensions/telegram/src/ingress/around.ts': 'a model reads it',
};

const found = (text: string) => ownSentences({ path: 'a.ts', text: `async () => { ${text} };` });

describe('a sentence to people', () => {
  const files = sourceFiles('src', 'extensions').filter(({ path }) => speaking.test(path));
  const speakers = files
    .filter(({ path }) => !tables.test(path))
    .map((file) => [file.path, ownSentences(file)] as const)
    .filter(([, own]) => own.length > 0);

  it('comes from the table, which an operator can replace (§20.13)', () => {
    expect(files.length).toBeGreaterThan(250);
    expect(speakers.filter(([path]) => !(path in accepted))).toEqual([]);
  });

  it('has no exception that is no longer needed', () => {
    const paths = speakers.map(([path]) => path);
    expect(Object.keys(accepted).filter((path) => !paths.includes(path))).toEqual([]);
  });

  it.each([
    "return 'There is nothing to stop.';",
    'const text = `"/#{name}" has failed.`;',
    "await replyTo(parts, trail, message, { kind: 'reply', content: 'sorry' });",
    "return cancel('policy', { reply: 'not now' });",
    "const buttons = [{ id, label: 'Allow' }];",
    'const lines = [`Approval needed: #{title}.`];',
    "say({ content: isOpen ? 'It is open now.' : text });",
  ])('is found if it does not: %s', (source) => {
    expect(found(source.replaceAll('#{', '$' + '{'))).toHaveLength(1);
  });

  it.each([
    "logger.warn('a question is asked nowhere', { approval });",
    "throw hostError('bad-question', { problem: 'It has no text.' });",
    "const sayTo = api.texts({ 'too-long': 'Please write less.' });",
    "return say('command-failed', { name });",
    "const row = { hint: 'Give it another name.' };",
    'const outgoing = { content: text, label };',
  ])('is not what is for others: %s', (source) => {
    expect(found(source)).toEqual([]);
  });
});
