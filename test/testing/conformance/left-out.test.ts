import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { agentConformance, channelConformance, fakeChannel } from '../../../src/testing/index.js';

const subject = () => {
  const channel = fakeChannel();
  return {
    channel,
    to: 'fake:ada',
    deliver: (text: string, updateId: string) => void channel.receive({ text }, updateId),
    shown: () => channel.sent.map(({ content }) => content),
  };
};
const echo = { provider: echoProvider(), text: 'hello' };

/** Runs checks. @returns those that were left out, and those that failed, each with its reason. */
async function ran(checks: ReturnType<typeof channelConformance>) {
  const failed: Record<string, string> = {};
  const noted: string[] = [];
  const test = { skip: (note: string) => void noted.push(note) };
  for (const { name, run } of checks)
    await run(test).catch((error: Error) => {
      failed[name] = error.message;
    });
  const skipped = checks.flatMap(({ name, skipped: why }) =>
    why === undefined ? [] : [[name, why]],
  );
  return { failed, noted, skipped: Object.fromEntries(skipped) as Record<string, string> };
}

describe('a check that is left out', () => {
  it('of a channel says why, and is skipped in its test runner', async () => {
    const { failed, skipped, noted } = await ran(channelConformance(subject));
    expect(failed).toEqual({});
    expect(skipped).toMatchObject({
      'says `ambiguous` if nobody knows whether a message went out': 'no failNext',
      'says `rejected` if the provider refuses a message for good': 'no failNext',
      'says `retry-after` with a time if the provider asks to wait': 'no failNext',
      'waits for `receive` before it brings more, if it says that it can wait': 'it cannot wait',
    });
    expect(noted).toEqual(Object.values(skipped).map((why) => `left out: ${why}`));
  });

  it('of an agent says why', async () => {
    const { failed, skipped } = await ran(agentConformance(() => echo));
    expect(failed).toEqual({});
    expect(Object.values(skipped)).toEqual(expect.arrayContaining(['no endless', 'no failure']));
  });

  it('fails if the checks have to be complete, unless its rule is not about the subject', async () => {
    const channel = await ran(channelConformance(subject, { complete: true }));
    expect(Object.values(channel.failed)).toEqual(Array(3).fill('it was left out: no failNext'));
    expect(Object.values(channel.skipped)).toContain('it cannot wait');
    const silent = { ...echo, tool: false as const };
    const agent = await ran(agentConformance(() => silent, { complete: true }));
    expect(Object.values(agent.failed).sort()).toEqual([
      ...Array(2).fill('it was left out: no endless'),
      'it was left out: no failure',
    ]);
  });
});
