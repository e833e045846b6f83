import { expect, it } from 'vitest';
import { readRecording, replayProvider } from '../../src/agent/index.js';
import { hostLab } from '../support/host-lab.js';
import { recordings } from '../support/recordings.js';

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
