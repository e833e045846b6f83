import { describe, expect, it } from 'vitest';
import { TurnPauses } from '../../../src/agent/internal.js';
import { CrashSuspects } from '../../../src/host/lanes/crash-suspects.js';
import { ReloadGate } from '../../../src/host/lanes/gate.js';
import { PeopleWait } from '../../../src/host/lanes/people-wait.js';
import type { Place } from '../../../src/host/lanes/slots.js';
import { deferred, systemClock } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';

/** A place that writes down what is done with it. */
function notedPlace(entering: () => Promise<void> = async () => undefined) {
  const done: string[] = [];
  const place: Place = {
    leave: (isForPerson) => done.push(isForPerson === true ? 'left for a person' : 'left'),
    enter: async () => {
      await entering();
      done.push('entered');
    },
    defer: () => done.push('deferred'),
  };
  return { place, done };
}

describe('a message that waits for a person', () => {
  it('leaves its place from the first wait to the end of the last (judgement §4.20)', async () => {
    const { place, done } = notedPlace();
    const people = new PeopleWait(place, new TurnPauses(), () => undefined);
    const [one, two] = [deferred<string>(), deferred<string>()];
    const first = people.during(() => one.promise);
    const second = people.during(() => two.promise);
    await new Promise(setImmediate);
    expect(done).toEqual(['left for a person']);
    one.resolve('yes');
    expect(await first).toBe('yes');
    expect(done).toEqual(['left for a person']);
    two.resolve('no');
    expect(await second).toBe('no');
    expect(done).toEqual(['left for a person', 'entered']);
    expect(await people.during(async () => done.length)).toBe(3); // it has left again
    expect(done).toHaveLength(4);
  });

  it('that may not go on is told, and its wait rejects (judgement §4.20)', async () => {
    const { place } = notedPlace(() => Promise.reject(new Error('the journal failed')));
    const lost: unknown[] = [];
    const people = new PeopleWait(place, new TurnPauses(), (error) => lost.push(error));
    await expect(people.during(async () => 'yes')).rejects.toThrow('the journal failed');
    expect(lost).toHaveLength(1);
  });

  it('is deferred with its turn when the host stops (judgement §4.20)', async () => {
    const { place, done } = notedPlace();
    const lost: unknown[] = [];
    const people = new PeopleWait(place, new TurnPauses(), (error) => lost.push(error));
    await people.during(async () => people.defer());
    expect(done).toEqual(['left for a person', 'deferred', 'entered']);
    expect(lost).toHaveLength(1);
  });

  it('spends no time of its turn (judgement §4.20)', async () => {
    const clock = virtualClock();
    const pauses = new TurnPauses();
    let isOver = false;
    using _limit = pauses.limit(clock, 1_000, () => {
      isOver = true;
    });
    await clock.advance(600);
    const [one, two] = [pauses.pause(), pauses.pause()];
    await clock.advance(60_000);
    one[Symbol.dispose]();
    await clock.advance(60_000);
    two[Symbol.dispose]();
    await clock.advance(399);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
  });

  it('blocks no reload, and goes on when it is over (judgement §4.20)', async () => {
    const gate = new ReloadGate(systemClock, { suspends: false });
    const waiting = deferred<void>();
    const steps: string[] = [];
    const job = gate.pass(async () => {
      gate.leaveForPerson();
      await waiting.promise;
      await gate.enterAfterPerson();
      steps.push('goes on');
    });
    const closed = gate.close();
    expect(await gate.quiet(60_000)).toBe(0);
    waiting.resolve();
    await new Promise(setImmediate);
    steps.push('reloaded');
    closed[Symbol.dispose]();
    await job;
    expect(steps).toEqual(['reloaded', 'goes on']);
  });

  it('is given up by a reload if the journal has its message, and the reload waits for that (judgement §4.20)', async () => {
    const gate = new ReloadGate(systemClock, { suspends: true });
    const steps: string[] = [];
    const { closing } = gate;
    const job = gate.pass(async () => {
      gate.leaveForPerson();
      while (!closing.aborted) await new Promise(setImmediate);
      await gate.enterAfterPerson();
      steps.push('given up');
    });
    const closed = gate.close();
    expect(await gate.quiet(60_000)).toBe(0);
    steps.push('reloaded');
    expect(gate.closing.aborted).toBe(true); // also for one that begins to wait now
    closed[Symbol.dispose]();
    expect(gate.closing.aborted).toBe(false);
    await job;
    expect(steps).toEqual(['given up', 'reloaded']);
  });

  it('is no crash suspect any more: the others go on, also where it was at its last attempt (judgement §4.20)', async () => {
    const clock = virtualClock();
    using crashSuspects = new CrashSuspects({ clock, maxAttempts: 3, lastAttemptAfterMs: 0 });
    const answer = deferred<void>();
    const begun: string[] = [];
    const first = crashSuspects.run(2, async ({ release }) => {
      begun.push('first');
      release();
      release(); // once
      await answer.promise;
    });
    const second = crashSuspects.run(2, async () => void begun.push('second'));
    await second;
    expect(begun).toEqual(['first', 'second']);
    answer.resolve();
    await first;
  });
});
