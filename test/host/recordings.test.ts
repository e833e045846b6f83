import { expect, it } from 'vitest';
import { readRecording, replayProvider } from '../../src/agent/index.js';
import { splitRuns } from '../../src/csdk/index.js';
import { hostLab } from '../support/host-lab.js';
import { recordings, visibleTexts } from '../support/recordings.js';

it.each(recordings())('$name: each visible text goes out once', async ({ path, lines }) => {
  const frames = await readRecording(path, ({ problem }) => expect.fail(problem));
  const agents = [{ id: 'main', provider: replayProvider(frames) }];
  await using lab = await hostLab({ agents, failureText: () => undefined });
  for (const _run of splitRuns(frames)) await lab.say('go on');
  // trimmed, as the legacy system trims what it sends
  expect(lab.texts()).toEqual(visibleTexts(lines).map((text) => text.trim()));
  const failures = lab.outcomes.flatMap((outcome) => outcome.failures);
  expect(failures).toEqual([]);
});
