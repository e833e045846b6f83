import fc from 'fast-check';
import { loadForTest } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import rateLimit from '../src/index.js';
import { arrivalOf } from './rate-lab.js';

const numRuns = Number(process.env['LAW_RUNS'] ?? 60);

interface Limit {
  readonly count: number;
  readonly windowMs: number;
}

/** A bucket as a child would draw it: it is filled anew with each millisecond, and holds parts of tokens as whole numbers. */
class NaiveBucket {
  private level: number;
  private atMs = 0;
  constructor(private readonly limit: Limit) {
    this.level = limit.count * limit.windowMs;
  }
  hasTokenAt(atMs: number): boolean {
    for (; this.atMs < atMs; this.atMs++)
      this.level = Math.min(this.limit.count * this.limit.windowMs, this.level + this.limit.count);
    return this.level >= this.limit.windowMs;
  }
  take(): void {
    this.level -= this.limit.windowMs;
  }
}

function naiveBuckets(limit: Limit | undefined) {
  const buckets = new Map<string, NaiveBucket>();
  return (key: string): readonly NaiveBucket[] => {
    if (limit === undefined) return [];
    const bucket = buckets.get(key) ?? new NaiveBucket(limit);
    buckets.set(key, bucket);
    return [bucket];
  };
}

const limit = fc.record({
  count: fc.integer({ min: 1, max: 4 }),
  windowMs: fc.integer({ min: 1, max: 40 }),
});
const limits = fc
  .record({
    perPrincipal: fc.option(limit, { nil: undefined }),
    perConversation: fc.option(limit, { nil: undefined }),
  })
  .filter((made) => made.perPrincipal !== undefined || made.perConversation !== undefined);
const sender = fc.constantFrom('ann', 'ben', 'a bot', 'a boss');
const arrivals = fc.array(
  fc.record({
    gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 15 })),
    sender,
    conversation: fc.constantFrom('c-1', 'c-2'),
  }),
  { minLength: 15, maxLength: 40 },
);

describe('a sequence of messages', () => {
  it('is let through as a naive bucket for each sender and conversation says (judgement §6.2, §6.3)', async () => {
    const seen = { passed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(limits, arrivals, async (given, sequence) => {
        const config = { ...given, exemptRoles: ['admin'] };
        await using test = await loadForTest(rateLimit, { config });
        const [bySender, byConversation] = [
          naiveBuckets(given.perPrincipal),
          naiveBuckets(given.perConversation),
        ];
        let atMs = 0;
        for (const { gapMs, sender, conversation } of sequence) {
          atMs += gapMs;
          await test.clock.advance(gapMs);
          const key = sender === 'a bot' ? `unproven in ${conversation}` : sender;
          const buckets =
            sender === 'a boss' ? [] : [...bySender(key), ...byConversation(conversation)];
          const isDue = buckets.map((bucket) => bucket.hasTokenAt(atMs)).every((has) => has);
          if (isDue) for (const bucket of buckets) bucket.take();
          const { status } = await test.dispatch(
            'routing.resolving',
            ...arrivalOf({
              conversation,
              ...(sender !== 'a bot' && { sender }),
              ...(sender === 'a boss' && { roles: ['admin'] }),
            }),
          );
          expect(status).toBe(isDue ? 'passed' : 'cancelled');
          seen[isDue ? 'passed' : 'refused'] += 1;
        }
      }),
      { numRuns },
    );
    expect(seen.passed).toBeGreaterThan(numRuns);
    expect(seen.refused).toBeGreaterThan(numRuns);
  });

  it('that comes at once takes each token once, in the order in which it came (judgement §6.4)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.constantFrom('c-1', 'c-2', 'c-3'), { maxLength: 12 }),
        async (count, inOne, conversations) => {
          const config = {
            perPrincipal: { count, windowMs: 1_000 },
            perConversation: { count: inOne, windowMs: 1_000 },
          };
          await using test = await loadForTest(rateLimit, { config });
          const outcomes = await Promise.all(
            conversations.map((conversation) =>
              test.dispatch('routing.resolving', ...arrivalOf({ sender: 'ann', conversation })),
            ),
          );
          const left = new Map<string, number>();
          let all = count;
          const expected = conversations.map((conversation) => {
            const here = left.get(conversation) ?? inOne;
            if (all === 0 || here === 0) return 'cancelled';
            all -= 1;
            left.set(conversation, here - 1);
            return 'passed';
          });
          expect(outcomes.map(({ status }) => status)).toEqual(expected);
        },
      ),
      { numRuns },
    );
  });
});
