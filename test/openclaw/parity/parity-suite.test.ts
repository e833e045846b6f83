import { describe, expect, it } from 'vitest';
import {
  compareParity,
  type MakeLegacyRunner,
  paritySuite,
} from '../../../src/openclaw/parity/index.js';

const call = { hook: 'message_sending', event: { to: 'C1', content: 'hi ' }, ctx: {} };
const trim = ({ content }: { content: string }) => ({ content: content.trim() });
const handlers = () => [{ hook: 'message_sending' as const, pluginId: 'acme', handler: trim }];

/** A runner of somebody else, which adds something to each result. */
const adding =
  (more: object): MakeLegacyRunner =>
  ({ typedHooks }) => ({
    runMessageSending: async (event: never, ctx: never) => ({
      ...Object(await typedHooks[0]?.handler(event, ctx)),
      ...more,
    }),
  });

const endsOf = (checks: ReturnType<typeof paritySuite>) =>
  Promise.all(checks.map(({ run }) => run().then(() => 'passed', String)));

describe('a parity suite over a recording (docs/testing)', () => {
  const runners = [adding({}), adding({ cancel: true })] as const;
  const recording = { one: [call], two: call };

  it('passes for two runners that do the same, with copies of the events for each', async () => {
    const both = [adding({ cancel: true }), adding({ cancel: true })] as const;
    const ends = await endsOf(paritySuite({ recording, runners: both, handlers }));
    expect(ends).toEqual(['passed', 'passed', 'passed']);
    expect(call.event.content).toBe('hi ');
  });

  it('fails with each difference that nobody has named, and takes those that are named', async () => {
    const [one = '', two, last] = await endsOf(paritySuite({ recording, runners, handlers }));
    expect(one).toContain('one differs:\nresult.cancel: undefined and true');
    expect([two?.slice(0, 18), last]).toEqual(['Error: two differs', 'passed']);
    const known = { 'a cancel more': ({ path }: { path: string }) => path === 'result.cancel' };
    expect(new Set(await endsOf(paritySuite({ recording, runners, handlers, known })))).toEqual(
      new Set(['passed']),
    );
  });

  it('fails for a name that no difference bears, and for a call that is none', async () => {
    const [, , last] = await endsOf(
      paritySuite({ recording, runners, handlers, known: { never: () => false } }),
    );
    expect(last).toContain('never');
    const broken = { none: [], odd: [{ hook: 7 }], unknown: [{ ...call, hook: 'no_such' }] };
    const ends = await endsOf(paritySuite({ recording: broken, runners, handlers }));
    const kinds = ends.map((end) => end.split(':')[0]);
    expect(kinds).toEqual(['TypeError', 'TypeError', 'TypeError', 'passed']);
  });

  it('says of a call that reaches no handler that it was left out, and fails if all is to be compared', async () => {
    const idle: MakeLegacyRunner = () => ({ runMessageSending: async () => undefined });
    const given = { recording, runners: [idle, idle] as const, handlers };
    const checks = paritySuite(given);
    expect(await endsOf(checks)).toEqual(['passed', 'passed', 'passed']);
    const reason = 'call 0: no handler was called';
    expect(checks.map(({ skipped }) => skipped)).toEqual([reason, reason, undefined]);
    const ends = await endsOf(paritySuite({ ...given, complete: true }));
    expect(ends.slice(0, 2)).toEqual([
      `Error: one was left out: ${reason}`,
      `Error: two was left out: ${reason}`,
    ]);
  });

  it('says of a comparison what was left out, and is unequal if all is to be compared', async () => {
    const scenario = { ...call, hook: 'message_sending' as const, ctx: { channelId: 'x' } };
    const idle = { ...scenario, handlers: [], pipeline: () => undefined };
    const report = await compareParity(idle);
    expect([report.equal, report.leftOut.length]).toEqual([true, 2]);
    expect((await compareParity({ ...idle, complete: true })).equal).toBe(false);
    const whole = await compareParity({ ...scenario, handlers: handlers(), complete: true });
    expect([whole.equal, whole.leftOut]).toEqual([true, []]);
  });

  it('has Sluice’s own runner on the other side by default, anew for each name', async () => {
    const ends = await endsOf(paritySuite({ recording, runners: [adding({ to: 1 })], handlers }));
    expect(ends[0]).toContain('result.to: 1 and undefined');
    expect(ends[1]?.replace('two', 'one')).toBe(ends[0]);
  });
});
