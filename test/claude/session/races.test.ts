import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsdkCallback, checkOrdering, normalizeSession } from '../../../src/claude/index.js';
import { SessionNormalizer } from '../../../src/claude/session/session-normalizer.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { csdkScript, type ScriptStep } from '../../support/csdk-script.js';

const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31);

/** Runs with the callbacks where the SDK makes them: before the frames that they are about, or beside them. */
const scripts = [
  'ms(m1) bs0:text d0"Let me " d0"look." A(m1)[text"Let me look."] bx0 bs1:tu t1 Bash j1"{\\"a\\":1}" A(m1)[tu t1 Bash {"a":1}] bx1 md(tool_use) mx perm(t1 Bash {"a":1}) granted(t1 Bash {"a":2}) U[tr t1 ok "x"] ms(m2) bs0:text d0"Done" A(m2)[text"Done"] bx0 mx R(ok)',
  'A(m1)[text"two", tu t1 A {}, tu t2 B {}] perm(t1 A {}) perm(t2 B {}) U[tr t2 err "no"] U[tr t1 ok "1"] A(m2)[text"ok"] R(ok)',
  'ms(m1) bs0:text d0"a" d0"b" bx0 mx cb(PreCompact) ST(compacting) cb(PostCompact) ST(null,success) init CB ms(m2) bs0:text d0"c" bx0 mx R(ok)',
  'A(m1)[text"a"] cb(PreCompact) CB A(m2)[text"b"] A(m2)[text"c"] R(ok)',
  'ms(m1) bs0:tu t1 Bash perm(t1 Bash {"a":1}) A(m1)[tu t1 Bash {"a":1}] bx0 mx TP(t1,2s) U[tr t1 ok "x"] R(ok)',
].map(csdkScript);

function texts(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'message_update' && event.assistantMessageEvent.type === 'text_end'
      ? [event.assistantMessageEvent.content]
      : [],
  );
}

/** What each tool was, and answered, in any order. */
function answers(events: readonly SessionEvent[]): readonly string[] {
  return events
    .flatMap((event) =>
      event.type === 'tool_execution_end'
        ? [`${event.toolCallId} ${event.toolName} ${event.isError} ${JSON.stringify(event.result)}`]
        : [],
    )
    .toSorted();
}

function compactions(events: readonly SessionEvent[]): number {
  return events.filter(({ type }) => type === 'auto_compaction_start').length;
}

function inOrder(steps: readonly ScriptStep[]): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  const session = new SessionNormalizer(
    {},
    (event) => events.push(event),
    () => undefined,
  );
  for (const step of steps)
    if (step.kind === 'frame') session.take(step.frame);
    else if (step.kind === 'callback') session.callback(step.callback);
  session.sourceEnded();
  return events;
}

/** Something that comes one by one, when the scheduler lets it. */
async function* scheduled<T>(scheduler: fc.Scheduler, all: readonly T[]): AsyncGenerator<T> {
  for (const one of all) yield await scheduler.schedule(Promise.resolve(one));
}

describe(`frames and callbacks in one queue (SLUICE_SEED=${seed})`, () => {
  it('give an ordered run with every text and answer, however they interleave', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.nat({ max: scripts.length - 1 }),
        fc.constantFrom('block' as const, 'messageEnd' as const),
        async (scheduler, script, toolStart) => {
          const steps = scripts[script] ?? [];
          const frames = steps.flatMap((step) => (step.kind === 'frame' ? [step.frame] : []));
          const callbacks = steps.flatMap((step): readonly CsdkCallback[] =>
            step.kind === 'callback' ? [step.callback] : [],
          );
          const stream = normalizeSession(scheduled(scheduler, frames), {
            callbacks: scheduled(scheduler, callbacks),
            toolStart,
          });
          const events: SessionEvent[] = [];
          await scheduler.waitFor(
            (async () => {
              for await (const event of stream) events.push(event);
            })(),
          );
          expect(checkOrdering(events)).toEqual([]);
          expect(texts(events)).toEqual(texts(inOrder(steps)));
          expect(answers(events)).toEqual(answers(inOrder(steps)));
        },
      ),
      { seed, numRuns: 400 },
    );
  });

  it('report a compaction once, however far its hook is ahead of the frames', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: scripts.length - 1 }),
        fc.array(fc.nat({ max: 20 }), { minLength: 4, maxLength: 4 }),
        (script, leads) => {
          const steps = scripts[script] ?? [];
          const ahead = overtaking(steps, leads);
          const events = inOrder(ahead);
          expect(checkOrdering(events)).toEqual([]);
          expect(compactions(events)).toBe(compactions(inOrder(steps)));
          expect(texts(events)).toEqual(texts(inOrder(steps)));
        },
      ),
      { seed, numRuns: 2_000 },
    );
  });
});

/** The callbacks come up to so many steps early: the SDK calls at once, while frames wait to be read. */
function overtaking(steps: readonly ScriptStep[], leads: readonly number[]): readonly ScriptStep[] {
  const placed = steps.map((step, at) => ({ step, at }));
  let nth = 0;
  let earliest = 0;
  return placed
    .map(({ step, at }) => {
      if (step.kind !== 'callback') return { step, at };
      earliest = Math.max(earliest, at - (leads[nth++ % leads.length] ?? 0)); // callbacks keep their own order
      return { step, at: earliest - 0.5 };
    })
    .toSorted((left, right) => left.at - right.at)
    .map(({ step }) => step);
}
