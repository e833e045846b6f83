import { expect, it } from 'vitest';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import type { Question, QuestionEnd, ScheduledRun } from '../../../src/sdk/extension/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { type ActingLab, actingLab } from '../../support/acting-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

/** A journal whose host is killed at the n-th write: that write and all after it reach nothing. */
function killedAt(journal: Journal, nth: number) {
  let writes = 0;
  const mortal = mortalJournal(journal, () => {
    if (++writes === nth) mortal.kill();
    return undefined;
  });
  return { journal: mortal, isKilled: () => writes >= nth };
}

async function hasOpen(journal: Journal): Promise<boolean> {
  const all = await journal.updates({ limit: 100 });
  return all.some(({ state }) => state === 'accepted' || state === 'handling');
}

/** What a host does in its life: it may never be told that it has started. */
type Life = (journal: Journal, clock: VirtualClock) => Promise<ActingLab>;

/**
 * Kills a host at each of its writes, one after the other: first at its first write, then at its second, until it lives to
 * the end. After each death the next host lives its whole life on the same journal.
 *
 * @returns how often a host was killed.
 */
async function atEachWrite(
  live: Life,
  check: (journal: Journal, lab: ActingLab) => Promise<void>,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    const clock = virtualClock();
    const journal = memoryJournal({ clock });
    const first = killedAt(journal, nth);
    const living = live(first.journal, clock);
    void living.catch(() => undefined);
    for (let at = 0; at < 50 && !first.isKilled(); at++) {
      await turns();
      await clock.advance(5_000);
    }
    await turns(); // writes that had begun are in the journal
    if (!first.isKilled()) await (await living)[Symbol.asyncDispose]();
    const lab = await live(mortalJournal(journal), clock);
    for (let at = 0; at < 50 && (await hasOpen(journal)); at++) {
      await lab.clock.advance(1_000); // a last attempt waits
      await turns();
    }
    await check(journal, lab);
    await lab[Symbol.asyncDispose]();
    if (!first.isKilled()) return nth - 1;
  }
}

const lasting = { maxAttempts: 10, deduplicatesSends: true } as const;

it('a host that is killed at any write of a question asks it, and counts its answer once (extensions-that-act §7.2, extensions-that-act §7.6)', async () => {
  let handled: QuestionEnd<number>[] = [];
  const live: Life = async (journal, clock) => {
    let deploy: Question<number> | undefined;
    const lab = await actingLab({
      journal,
      clock,
      journalSettings: { maxAttempts: lasting.maxAttempts },
      channel: scriptedChannel({ ...lasting, resendPolicy: { ambiguous: 'resend' } }),
      setup: (api) => {
        deploy = api.question<number>('deploy', (end) => void handled.push(end));
      },
    });
    const place = { channel: 'scripted', to: 'scripted:ada' };
    const question = { content: 'Deploy?', options: ['Yes', 'No'] };
    await deploy?.ask(place, question, { key: 'build/7', data: 7 });
    await turns();
    await lab.channel.receive({ text: 'yes' }, 'u-yes'); // the provider brings it again, too
    await turns();
    return lab;
  };
  const deaths = await atEachWrite(live, async (journal, lab) => {
    const ids = new Set(handled.map(({ id }) => id));
    expect(ids.size).toBe(1);
    for (const end of handled)
      expect(end).toMatchObject({ status: 'answered', answer: 'Yes', data: 7 });
    const all = await journal.updates({ limit: 100 });
    expect(all.map(({ state, outcome }) => [state, outcome]).toSorted()).toEqual([
      ['ended', 'answer'],
      ['ended', 'job'],
    ]);
    const rows = await journal.keyValues.list('/questions/acting', { prefix: '', limit: 10 });
    expect(rows).toEqual([]);
    expect(lab.texts().length).toBeLessThanOrEqual(1);
    handled = [];
  });
  expect(deaths).toBeGreaterThan(8); // it has been killed at each of them
});

it('a host that is killed at any write of a schedule runs each due time, and ends it once (extensions-that-act §6.2)', async () => {
  let runs: ScheduledRun[] = [];
  const live: Life = async (journal, clock) => {
    const lab = await actingLab({
      journal,
      clock,
      journalSettings: { maxAttempts: lasting.maxAttempts },
      setup: (api) => api.schedule('tick', { cron: '* * * * *' }, (run) => void runs.push(run)),
    });
    await clock.advance(60_000);
    await turns();
    await clock.advance(60_000);
    await turns();
    return lab;
  };
  const deaths = await atEachWrite(live, async (journal, lab) => {
    const all = await journal.updates({ limit: 100 });
    expect(all.filter(({ state }) => state !== 'ended')).toEqual([]);
    const ended = new Set(all.map(({ eventId }) => eventId));
    expect(ended.size).toBe(all.length);
    expect(new Set(runs.map(({ id }) => id))).toEqual(ended);
    const due = [...new Set(runs.map(({ dueAt }) => dueAt))].toSorted((a, b) => a - b);
    expect(all).toHaveLength(due.length); // each is taken in once
    const [from = 0] = due;
    const until = lab.clock.now();
    expect(due).toEqual(due.map((_, at) => from + at * 60_000)); // none is left out
    expect(until - (due.at(-1) ?? 0)).toBeLessThan(60_000);
    for (const { id } of runs)
      expect(runs.filter((run) => run.id === id).map(({ attempt }) => attempt)).toEqual(
        runs.filter((run) => run.id === id).map((_, at) => at + 1),
      );
    runs = [];
  });
  expect(deaths).toBeGreaterThan(4);
});
