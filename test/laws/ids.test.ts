import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Clock, createKernel, openKernel, sortableIds } from '../../src/kernel/internal.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { labSample, labStages } from '../support/kernel-stages.js';

/** A kernel whose wall clock a test sets, and a way to dispatch at a time. */
function jumping(): (nowMs: number, occurredAt?: number) => () => string {
  let nowMs = 0;
  const clock: Clock = { ...virtualClock(), now: () => nowMs };
  const kernel = openKernel(createKernel({ stages: labStages, clock }));
  return (atMs, occurredAt) => {
    nowMs = atMs;
    const given = occurredAt === undefined ? undefined : { occurredAt };
    const outcome = kernel.dispatchSync('lab.sync', labSample(), given);
    return () => outcome.event.eventId;
  };
}

const around = fc.oneof(
  fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
  fc.constantFrom(1_773_532_800_000, 1_773_532_800_001, 0),
  fc.double({ min: 1_773_532_800_000, max: 1_773_532_800_003, noNaN: true }),
);

function sorted(ids: readonly string[]): readonly string[] {
  return [...ids].sort((left, right) => (left < right ? -1 : 1));
}

describe('event ids', () => {
  it('have the text of their time and sequence in base 36, for 100,000 pairs (§1.3)', () => {
    const id = sortableIds(() => 0.5);
    const plain = (stampMs: number, sequence: number): string =>
      `${Math.max(0, Math.trunc(stampMs)).toString(36).padStart(9, '0')}-${sequence.toString(36).padStart(7, '0')}-i00000`;
    const wrong: string[] = [];
    const check = (stampMs: number, sequence: number): void => {
      const made = id(stampMs, sequence);
      if (made !== plain(stampMs, sequence)) wrong.push(made);
    };
    for (let i = 0; i < 60_000; i++) check(1_773_532_800_000 + (i >> 4), i);
    const ends = [0, 35, 36, 1_295, 1_296, 1_297, 36 ** 7 - 1, 36 ** 7, 2 ** 53 - 1];
    const times = [-1, 0, 0.5, 1_773_532_800_000.9, 36 ** 9, 1e17];
    for (const stampMs of times) for (const sequence of ends) check(stampMs, sequence);
    for (let i = 0; i < 40_000; i++) check((i * 7_919) % 1e13, (i * 104_729) % 36 ** 8); // forth and back
    expect(wrong).toEqual([]);
  });

  it('sort by order of dispatch, however the clock jumps and whenever they are read (§1.3, §1.2)', () => {
    fc.assert(
      fc.property(fc.array(around, { minLength: 2 }), fc.boolean(), (times, backwards) => {
        const at = jumping();
        const reads = times.map((time) => at(time));
        const ids = backwards
          ? reads
              .toReversed()
              .map((read) => read())
              .toReversed()
          : reads.map((read) => read());
        expect(sorted(ids)).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: 300 },
    );
  });

  it('sort so also where the time of the event is given (§1.3)', () => {
    const given = fc.oneof(
      fc.constant(undefined),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.constantFrom(0.1, 1e17, Number.MAX_VALUE, -1),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(around, given), { minLength: 2 }), (times) => {
        const at = jumping();
        const ids = times.map(([time, occurredAt]) => at(time, occurredAt)());
        expect(sorted(ids)).toEqual(ids);
      }),
      { numRuns: 300 },
    );
  });

  it('of a source sort by time, then by sequence (§1.3)', () => {
    const moment = fc.tuple(fc.nat(4_000_000_000_000), fc.integer({ min: 1, max: 1e9 }));
    fc.assert(
      fc.property(moment, moment, (left, right) => {
        const id = sortableIds(() => 0.5);
        const order = left[0] - right[0] || left[1] - right[1];
        expect(Math.sign(order)).toBe(
          id(...left) === id(...right) ? 0 : id(...left) < id(...right) ? -1 : 1,
        );
      }),
    );
  });

  it('keep a given time and a given id as they are (§1.3)', () => {
    const kernel = openKernel(createKernel({ stages: labStages }));
    const given = { occurredAt: 12.5, eventId: 'mine' };
    const { event } = kernel.dispatchSync('lab.sync', labSample(), given);
    expect([event.occurredAt, event.eventId, event.correlationId]).toEqual([12.5, 'mine', 'mine']);
  });
});
