import { expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { readRecording, replayProvider } from '../../../src/claude/agent/index.js';
import { failureTextOf } from '../../../src/host/config/failure-text.js';
import type { FailureTexts } from '../../../src/host/index.js';
import { hostLab } from '../../support/host-lab.js';
import { recordings } from '../../support/recordings.js';

const failing = {
  id: 'main',
  provider: {
    ...echoProvider(),
    run: () => {
      throw new Error('529 of https://api.internal:8443/v1');
    },
  },
};

it('IV.1: a provider that fails writes nothing into a chat: its sender gets one message, without its text (§16.18)', async () => {
  const path =
    recordings().find(({ name }) => name.endsWith('retries-exhausted.jsonl'))?.path ?? '';
  const frames = await readRecording(path, ({ problem }) => expect.fail(problem));
  const agents = [{ id: 'main', provider: replayProvider(frames) }];
  await using lab = await hostLab({ agents });
  const end = await lab.say('hello');
  expect(end.status).toBe('failed');
  expect(end.reason).toMatch(/API Error: 529/); // for the operator
  expect(lab.texts()).toHaveLength(1);
  expect(lab.texts()[0]).toMatch(/^This message could not be answered/);
});

it('IV.1: the operator words the one message, and the detail stays in the log and in the end of the message (§16.19)', async () => {
  await using lab = await hostLab({
    agents: [failing],
    failureText: { 'provider-failed': 'Sorry, I cannot think right now.' },
  });
  const end = await lab.say('hello');
  expect(lab.texts()).toEqual(['Sorry, I cannot think right now.']);
  expect(end.reason).toContain('api.internal:8443');
  expect(lab.log.entries.find(({ level }) => level === 'error')).toMatchObject({
    message: 'a message could not be answered: provider-failed',
    fields: { code: 'provider-failed', detail: expect.stringContaining('api.internal:8443') },
  });
});

it.each<[FailureTexts, readonly string[]]>([
  [{}, ['This message could not be answered (provider-failed).']],
  [{ busy: 'Later.' }, ['This message could not be answered (provider-failed).']],
  [{ other: 'Sorry.' }, ['Sorry.']],
  [{ 'provider-failed': 'Broken.', other: 'Sorry.' }, ['Broken.']],
  [{ 'provider-failed': false, other: 'Sorry.' }, []],
  [{ other: false }, []],
])('IV.1: of the texts %j the sender reads %j (§16.19)', async (failureText, said) => {
  await using lab = await hostLab({ agents: [failing], failureText });
  await lab.say('hello');
  expect(lab.texts()).toEqual(said);
});

it('IV.1: a host takes texts for the codes of failures alone (§16.19)', () => {
  const texts: FailureTexts = {
    routing: 'a',
    session: 'b',
    busy: 'c',
    'timed-out': 'd',
    other: 'e',
  };
  expect(failureTextOf({ code: 'routing', message: 'x' }, texts)).toBe('a');
  // @ts-expect-error: no failure has this code
  const wrong: FailureTexts = { 'provder-failed': 'Sorry.' };
  expect(Object.keys(wrong)).toEqual(['provder-failed']);
});

it('III.8: the words of a provider that has failed grow and are persisted as an error, and not as a text (§16.18)', async () => {
  const path =
    recordings().find(({ name }) => name.endsWith('retries-exhausted.jsonl'))?.path ?? '';
  const frames = await readRecording(path, ({ problem }) => expect.fail(problem));
  const agents = [{ id: 'main', provider: replayProvider(frames) }];
  await using lab = await hostLab({ agents });
  await lab.say('hello');
  const deltas = lab.of('agent.output.delta').map(({ payload }) => payload);
  expect(deltas).toMatchObject([{ kind: 'error', text: expect.stringMatching(/^API Error: 529/) }]);
  const written = lab.of('transcript.message.writing').map(({ payload }) => payload.message);
  expect(written.at(-1)).toMatchObject({
    role: 'assistant',
    content: [{ type: 'error', error: expect.stringMatching(/^API Error: 529/) }],
  });
  expect(lab.of('agent.llm.output')[0]?.payload.lastAssistant).toEqual(written.at(-1));
  expect(lab.of('agent.llm.output')[0]?.payload.assistantTexts).toEqual([]);
});

it('III.8: what a provider throws grows as nothing, and no transcript has it as a text (§16.18)', async () => {
  await using lab = await hostLab({ agents: [failing] });
  await lab.say('hello');
  expect(lab.of('agent.output.delta')).toEqual([]);
  const written = lab.of('transcript.message.writing').map(({ payload }) => payload.message);
  expect(JSON.stringify(written)).not.toContain('api.internal');
});
