import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Journal, memoryJournal, openJournal } from '../../../src/journal/index.js';
import { type VirtualClock, virtualClock, virtualStartMs } from '../../../src/testing/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { scheduleLab } from '../../support/schedule-lab.js';

const minute = 60_000;

/** Minutes since the start, of each run. */
const minutesOf = (runs: readonly { readonly dueAt: number }[]): number[] =>
  runs.map(({ dueAt }) => (dueAt - virtualStartMs) / minute);

const clockAt = (minutes: number) => virtualClock(virtualStartMs + minutes * minute);

const open = ['accepted', 'handling'] as const;

/** Lets time pass, at most half a minute, until something is so. A journal in a file takes turns of the event loop. */
async function passing(clock: VirtualClock, isSo: () => boolean): Promise<void> {
  for (let steps = 0; steps < 300 && !isSo(); steps++) await clock.advance(100);
}

/** A clock whose time of day jumps when a test says so. */
function jumpingClock() {
  const clock = virtualClock();
  let aheadMs = 0;
  return Object.assign(clock, {
    now: () => virtualStartMs + clock.monotonicMs() + aheadMs,
    jump: (ms: number) => {
      aheadMs += ms;
    },
  });
}

describe('api.schedule', () => {
  it('runs its handler at each due time, with an id, the time and the attempt (extensions-that-act §6.2)', async () => {
    await using lab = await scheduleLab();
    await lab.clock.advance(2 * minute + 59_000);
    expect(lab.runs).toMatchObject([
      { id: expect.stringMatching(/^u-/), dueAt: virtualStartMs + minute, attempt: 1 },
      { id: expect.stringMatching(/^u-/), dueAt: virtualStartMs + 2 * minute, attempt: 1 },
    ]);
    expect(lab.runs[0]?.id).not.toBe(lab.runs[1]?.id);
    expect(lab.runs[0]?.signal.aborted).toBe(false);
    expect(lab.ends[0]).toMatchObject({ status: 'job', accountId: 'schedule:acting/tick' });
  });

  it('is told of when it is new, and of each run (extensions-that-act §6.6)', async () => {
    await using lab = await scheduleLab({
      handler: ({ dueAt }) => {
        if (dueAt > virtualStartMs + minute) throw new Error('no tea');
      },
    });
    await lab.clock.advance(2 * minute + 1_000);
    const told = { scheduleId: 'acting/tick', cron: '* * * * *', timeZone: 'UTC' };
    const [first, second] = lab.runs;
    const one = { ...told, runId: first?.id, attempt: 1, dueAtMs: virtualStartMs + minute };
    const two = { ...told, runId: second?.id, attempt: 1, dueAtMs: virtualStartMs + 2 * minute };
    expect(lab.of('schedule.changed').map(({ payload }) => payload)).toMatchObject([
      { ...told, action: 'added', nextDueAtMs: virtualStartMs + minute },
      { ...one, action: 'started' },
      { ...one, action: 'finished', status: 'ok', nextDueAtMs: virtualStartMs + 2 * minute },
      { ...two, action: 'started' },
      { ...two, action: 'finished', status: 'error', error: 'no tea' },
    ]);
    const [, started] = lab.of('schedule.changed');
    const known = lab.of('ingress.received').map(({ event }) => event.correlationId);
    expect(known).toContain(started?.event.correlationId);
    const reconciled = lab.of('schedule.reconciled').map(({ payload }) => payload);
    expect(reconciled).toEqual([{ reason: 'startup', schedules: 1 }]);
  });

  it('reads its times in its time zone, over a change of the clocks (extensions-that-act §6.1)', async () => {
    const clock = virtualClock(Date.parse('2026-03-28T00:00Z')); // Berlin changes in the night to the 29th
    const times = { cron: '30 9 * * *', timeZone: 'Europe/Berlin' };
    await using lab = await scheduleLab({ clock, times });
    await clock.advance(2 * 86_400_000);
    expect(lab.runs.map(({ dueAt }) => new Date(dueAt).toISOString())).toEqual([
      '2026-03-28T08:30:00.000Z',
      '2026-03-29T07:30:00.000Z',
    ]);
  });

  it.each([
    ['2026-03-15T00:10', 'UTC'],
    ['2026-03-15T01:10', 'Europe/Berlin'],
    ['2026-03-15T02:10:00+02:00', 'Europe/Berlin'],
    [new Date('2026-03-15T00:10Z'), 'Asia/Tokyo'],
  ])('runs once at %s in %s (extensions-that-act §6.1)', async (at, timeZone) => {
    await using lab = await scheduleLab({ times: { at, timeZone } });
    await lab.clock.advance(30 * minute);
    expect(minutesOf(lab.runs)).toEqual([10]);
  });

  it('says that a time has passed before it was first seen (extensions-that-act §6.5)', async () => {
    await using lab = await scheduleLab({ times: { at: '2026-03-14T09:00' } });
    await lab.clock.advance(minute);
    expect(lab.runs).toEqual([]);
    expect(lab.log.messages()).toContain('a schedule never runs: its time has passed');
  });

  it('is due on a day that is further away than the longest timer of the platform (extensions-that-act §6.4)', async () => {
    const clock = jumpingClock();
    await using lab = await scheduleLab({ clock, times: { at: '2026-05-14T00:00' } });
    expect(clock.nextMs).toBeLessThanOrEqual(30_000);
    clock.jump(60 * 86_400_000 - 20_000);
    await clock.advance(40_000);
    expect(lab.runs).toHaveLength(1);
  });

  it('waits for the run before it: runs never overlap, and none is lost (extensions-that-act §6.3)', async () => {
    let running = 0;
    let most = 0;
    const handler = async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => lab.clock.setTimeout(resolve, 1.5 * minute));
      running--;
    };
    const lab = await scheduleLab({ handler });
    await lab.clock.advance(5 * minute);
    expect(most).toBe(1);
    expect(minutesOf(lab.runs)).toEqual([1, 2, 3]);
    const stopping = lab.host.stop();
    await lab.clock.advance(2 * minute);
    await stopping;
  });

  it('takes in nothing while a run is under way, so a slow handler has no queue behind it (extensions-that-act §6.3, §6.4)', async () => {
    const journal = memoryJournal();
    const lab = await scheduleLab({ journal, handler: () => new Promise(() => undefined) });
    await lab.clock.advance(5 * minute);
    expect(await journal.updates({ states: open })).toHaveLength(1);
    await lab.kill();
  });

  it('aborts the signal of a run when the host may not wait, and leaves the run to the next host (extensions-that-act §6.3)', async () => {
    const journal = memoryJournal();
    const handler = ({ signal }: { readonly signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const lab = await scheduleLab({ journal, handler });
    await lab.clock.advance(minute);
    const stopping = lab.host.stop({ timeoutMs: 1_000 });
    await lab.clock.advance(5_000);
    await stopping;
    expect(lab.runs[0]?.signal.aborted).toBe(true);
    await using next = await scheduleLab({ journal, clock: clockAt(1.5) });
    await passing(next.clock, () => next.runs.length > 0);
    expect(next.runs).toMatchObject([{ id: lab.runs[0]?.id, attempt: 1 }]); // it was released
  });

  it('puts a run whose handler throws to the dead letters, and goes on (extensions-that-act §6.3)', async () => {
    const journal = memoryJournal();
    const handler = () => {
      throw new Error('no tea');
    };
    await using lab = await scheduleLab({ journal, handler });
    await lab.clock.advance(2 * minute + 1_000);
    expect(lab.ends).toMatchObject([
      { status: 'failed', reason: 'acting/tick: no tea' },
      { status: 'failed' },
    ]);
    expect(await journal.updates({ states: ['dead'] })).toHaveLength(2);
  });

  it('runs no due time twice when the clock is set back, and goes on when it is set by days (extensions-that-act §6.4)', async () => {
    const clock = jumpingClock();
    await using lab = await scheduleLab({ clock });
    await clock.advance(3 * minute);
    clock.jump(-2 * minute);
    await clock.advance(3 * minute);
    expect(minutesOf(lab.runs)).toEqual([1, 2, 3, 4]);
    clock.jump(-3 * 86_400_000);
    await clock.advance(2 * minute);
    expect(lab.runs).toHaveLength(6);
  });

  it.each([
    ['skip', [1]],
    ['once', [1, 2]],
  ] as const)(
    'meets a clock that jumps ahead as a host that was away, with misfire "%s" (extensions-that-act §6.4)',
    async (misfire, ran) => {
      const clock = jumpingClock();
      await using lab = await scheduleLab({ clock, times: { cron: '* * * * *', misfire } });
      await clock.advance(minute);
      clock.jump(60 * minute + 15_000);
      await clock.advance(31_000);
      expect(minutesOf(lab.runs).slice(0, ran.length)).toEqual(ran);
      expect(minutesOf(lab.runs).slice(ran.length)).toEqual([61]); // not a minute late
    },
  );

  it('tries again when the journal could not keep a run (extensions-that-act §6.3)', async () => {
    const failing = (write: string, nth: number) =>
      write === 'accept' && nth <= 2 ? new Error('the disk is full') : undefined;
    await using lab = await scheduleLab({ journal: memoryJournal(), failing });
    await lab.clock.advance(minute + 5_000);
    expect(minutesOf(lab.runs)).toEqual([1]);
  });
});

const journals: readonly [string, () => Promise<Journal>][] = [
  ['in memory', async () => memoryJournal()],
  ['in a file', () => openJournal(':memory:')],
];

describe.each(journals)('over a restart, with a journal %s', (_, journalOf) => {
  it.each([
    ['skip', [1, 2, 30]],
    ['once', [1, 2, 3, 30]],
  ] as const)(
    'runs that were missed by more than a minute end as misfire "%s" says (extensions-that-act §6.4)',
    async (misfire, expected) => {
      const journal = await journalOf();
      const times = { cron: '* * * * *', misfire };
      const lab = await scheduleLab({ journal, times });
      await lab.clock.advance(2 * minute);
      await lab.kill();
      await using next = await scheduleLab({ journal, times, clock: clockAt(30.5) });
      await passing(next.clock, () => lab.runs.length + next.runs.length >= expected.length);
      expect(minutesOf([...lab.runs, ...next.runs])).toEqual(expected);
    },
  );

  it('begins anew with other times: nothing that they would have had before is missed (extensions-that-act §6.5)', async () => {
    const journal = await journalOf();
    const lab = await scheduleLab({ journal });
    await lab.clock.advance(2 * minute);
    await lab.kill();
    const times = { cron: '*/10 * * * *', misfire: 'once' } as const;
    await using next = await scheduleLab({ journal, times, clock: clockAt(35) });
    await next.clock.advance(6 * minute);
    expect(minutesOf(next.runs)).toEqual([40]);
  });

  it('a run that has begun waits for an extension that is gone, and is done when it is back (extensions-that-act §5.4)', async () => {
    const journal = await journalOf();
    const lab = await scheduleLab({ journal, handler: () => new Promise(() => undefined) });
    await lab.clock.advance(minute);
    await lab.kill();
    const without = await actingLab({ journal, clock: clockAt(2) });
    const isTold = () => without.log.messages().some((text) => text.startsWith('an update waits'));
    await passing(without.clock, isTold);
    expect(without.log.messages()).toContain('an update waits for its account, which does not run');
    await without.kill();
    await using back = await scheduleLab({ journal, clock: clockAt(3) });
    await passing(back.clock, () => back.runs.length > 0);
    expect(back.runs[0]).toMatchObject({ id: lab.runs[0]?.id, attempt: 2 });
  });
});

it('hosts that are killed run each due time to its end once, and never two at a time (extensions-that-act §6.2, §6.3)', async () => {
  const round = fc.record({
    /** Seconds that the host lives, and turns of the event loop after that. */
    seconds: fc.integer({ min: 0, max: 150 }),
    turns: fc.integer({ min: 0, max: 10 }),
    /** Milliseconds that a run takes. */
    takesMs: fc.constantFrom(0, 500, 30_000, 70_000),
    /** Seconds until the next host starts. */
    awaySeconds: fc.integer({ min: 0, max: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
      for (const [, journalOf] of journals) {
        const journal = await journalOf();
        const ended: number[] = [];
        let atMs = virtualStartMs;
        const live = async ({ takesMs }: { readonly takesMs: number }) => {
          const clock = virtualClock(atMs);
          let running = 0;
          const handler = async ({ dueAt }: { readonly dueAt: number }) => {
            expect(++running).toBe(1);
            if (takesMs > 0) await new Promise<void>((done) => clock.setTimeout(done, takesMs));
            running--;
            ended.push(dueAt);
          };
          return scheduleLab({ journal, clock, handler, journalSettings: { maxAttempts: 100 } });
        };
        for (const one of rounds) {
          const lab = await live(one);
          await lab.clock.advance(one.seconds * 1_000);
          for (let turn = 0; turn < one.turns; turn++) await new Promise(setImmediate);
          await lab.kill();
          atMs = lab.clock.now() + one.awaySeconds * 1_000;
        }
        await using last = await live({ takesMs: 0 });
        await last.clock.advance(3 * minute);
        for (
          let looks = 0;
          looks < 100 && (await journal.updates({ states: open })).length > 0;
          looks++
        )
          await last.clock.advance(1_000);
        const times = await journal.updates({ limit: 10_000 });
        const dues = times.map(({ updateId }) => updateId);
        expect(new Set(dues).size).toBe(dues.length);
        expect(times.every(({ state }) => state === 'ended')).toBe(true);
        // only an end that was not persisted lets a run come again
        expect([...new Set(ended)].sort()).toEqual(dues.map((due = '') => Date.parse(due)).sort());
      }
    }),
    { numRuns: Number(process.env['ACTS_RUNS'] ?? 10) },
  );
});
