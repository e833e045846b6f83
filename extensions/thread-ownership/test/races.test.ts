import { expectCancelled, expectPassed } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { claimsLab } from './claims-lab.js';
import { ownershipLab } from './ownership-lab.js';

describe('two hosts that race for a thread, over HTTP (fault 45)', () => {
  it('never both send, and one of them always does: 1,000 races', async () => {
    await using lab = await claimsLab();
    const forwarderUrl = lab.server.url;
    await using one = await ownershipLab({ forwarderUrl, agents: [{ id: 'one' }] });
    await using two = await ownershipLab({ forwarderUrl, agents: [{ id: 'two' }] });
    const wins = { one: 0, two: 0 };

    for (let round = 0; round < 100; round++) {
      const races = Array.from({ length: 10 }, async (_, at) => {
        const threadId = `${round}.${at}`;
        const first = at % 2 === 0 ? one : two;
        const second = first === one ? two : one;
        const outcomes = await Promise.all([first.send({ threadId }), second.send({ threadId })]);
        const sent = outcomes.filter(({ status }) => status === 'passed');
        expect(sent).toHaveLength(1);
        const [winner] = outcomes[0] === sent[0] ? [first] : [second];
        const loser = outcomes.find(({ status }) => status === 'cancelled') ?? expect.fail();
        const owner = winner === one ? 'one' : 'two';
        expect(expectCancelled(loser).cancel.details).toMatchObject({ owner });
        expect(expectPassed(sent[0] ?? expect.fail()).failures).toEqual([]);
        wins[owner]++;
      });
      await Promise.all(races);
    }

    expect(wins.one + wins.two).toBe(1_000);
    expect(wins.one).toBeGreaterThan(0);
    expect(wins.two).toBeGreaterThan(0);
    expect(lab.claims.list({ limit: 1_001 })).toHaveLength(1_000);
  });
});
