import { expect, it } from 'vitest';
import { readRecording, replayProvider } from '../../src/claude/agent/index.js';
import { splitRuns } from '../../src/claude/index.js';
import { hostLab } from '../support/host-lab.js';
import { chatTexts, recordings } from '../support/recordings.js';
import { onceEach, toldOf } from '../support/told-once.js';

/** Messages within which the provider runs tools of its own: what was said before a tool goes out before it runs (csdk §3.13). */
const inPieces: Readonly<Record<string, readonly string[]>> = {
  'redacted-citations.jsonl': ['I will search.', 'Herons are birds.'],
  'web-search.jsonl': ['I will search.', 'Herons are birds.', 'No more.'],
};

it.each(recordings())(
  '$name: each visible text goes out once, each call and subagent is told once',
  async ({ name, path, lines }) => {
    const frames = await readRecording(path, ({ problem }) => expect.fail(problem));
    const agents = [{ id: 'main', provider: replayProvider(frames) }];
    await using lab = await hostLab({ agents, failureText: () => undefined });
    for (const _run of splitRuns(frames, { end: 'settled' })) await lab.say('go on');
    const wanted = inPieces[name] ?? chatTexts(lines);
    expect(lab.texts()).toEqual(wanted.map((text) => text.trim())); // as the legacy system trims what it sends
    const failures = lab.outcomes.flatMap((outcome) => outcome.failures);
    expect(failures).toEqual([]);
    const told = toldOf(lab.outcomes);
    expect(told).toEqual(onceEach(told)); // csdk §12.5
  },
);
