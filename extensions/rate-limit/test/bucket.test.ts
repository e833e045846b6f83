import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bucket, countIn, waitMs } from '../src/bucket.js';

const limit = { count: 3, windowMs: 1_000 };

/** Takes messages at their times. @returns which of them had a token. */
function taken(times: readonly number[], given = limit): readonly boolean[] {
  let bucket: Bucket | undefined;
  return times.map((atMs, at) => {
    const arrival = { messageId: `m-${at}`, atMs };
    if (waitMs(bucket, given, arrival) > 0) return false;
    bucket = countIn(bucket, given, arrival);
    return true;
  });
}

describe('a bucket', () => {
  it('gives as many tokens as it holds, and then one each time that one has come back (judgement §6.2)', () => {
    expect(taken([0, 0, 0, 0])).toEqual([true, true, true, false]);
    expect(taken([0, 0, 0, 333, 334, 334])).toEqual([true, true, true, false, true, false]);
    expect(taken([0, 0, 0, 1_000, 1_000, 1_000, 1_000])).toEqual([
      ...[true, true, true],
      ...[true, true, true, false],
    ]);
  });

  it('says how long the next token takes, and that is enough and not too much (judgement §6.5)', () => {
    fc.assert(
      fc.property(
        fc.record({
          count: fc.integer({ min: 1, max: 50 }),
          windowMs: fc.integer({ min: 1, max: 500 }),
        }),
        (given) => {
          let bucket: Bucket | undefined;
          for (let at = 0; at < given.count; at++)
            bucket = countIn(bucket, given, { messageId: `m-${at}`, atMs: 7 });
          const waitAfter = (ms: number) =>
            waitMs(bucket, given, { messageId: 'next', atMs: 7 + ms });
          const wait = waitAfter(0);
          expect(wait).toBeGreaterThan(0);
          expect(waitAfter(wait)).toBe(0);
          expect(waitAfter(wait - 1)).toBe(1);
        },
      ),
    );
  });

  it('holds whole numbers at the largest limit, so that no token is lost in rounding', () => {
    const largest = { count: 1_000_000, windowMs: 31 * 86_400_000 };
    const now = Date.UTC(2026, 2, 15);
    const full: Bucket = { debt: largest.count * largest.windowMs, atMs: now, counted: [] };
    expect(Number.isSafeInteger(full.debt)).toBe(true);
    const next = { messageId: 'next', atMs: now };
    const wait = waitMs(full, largest, next);
    expect(wait).toBe(Math.ceil(largest.windowMs / largest.count));
    expect(waitMs(full, largest, { ...next, atMs: now + wait })).toBe(0);
  });

  it('is full again if its clock was set back by a window or more', () => {
    expect(taken([5_000, 5_000, 5_000, 4_001, 4_000])).toEqual([true, true, true, false, true]);
  });

  it('pays nothing twice if messages come out of the order of their times', () => {
    expect(taken([0, 0, 400, 100, 500, 500])).toEqual([true, true, true, true, false, false]);
  });

  it('knows the last messages that it has counted, and no more of them (judgement §6.4)', () => {
    const wide = { count: 1_000, windowMs: 1_000 };
    let bucket: Bucket | undefined;
    for (let at = 0; at < 100; at++)
      bucket = countIn(bucket, wide, { messageId: `m-${at}`, atMs: 0 });
    expect(countIn(bucket, wide, { messageId: 'm-99', atMs: 0 })).toBeUndefined();
    expect(bucket?.counted).toHaveLength(16);
  });
});
