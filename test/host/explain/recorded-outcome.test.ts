import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordedOutcome, replayDispatches } from '../../../src/host/internal.js';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { memoryJournal } from '../../../src/journal/index.js';
import {
  cancel,
  createKernel,
  isSluiceError,
  type Kernel,
  type Outcome,
  select,
} from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/index.js';
import { explained } from '../../support/explained.js';

const record = (body: string) => ({
  seq: 1,
  eventId: 'e',
  family: 'egress.preparing' as const,
  correlationId: 'c',
  sessionId: null,
  status: 'passed' as const,
  occurredAtMs: 0,
  body,
});

/** What a kernel has dispatched, as its journal keeps it. */
async function journalOf(contribute: (kernel: Kernel) => void) {
  const journal = memoryJournal();
  const kernel = createKernel({
    trace: true,
    tap: dispatchTap(journal, { hotPathPayloads: true }),
  });
  contribute(kernel);
  const ingress = await kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
  const routed = await kernel.dispatch('routing.resolving', samplePayload('routing.resolving'), {
    after: ingress,
  });
  kernel.dispatchSync('transcript.message.writing', samplePayload('transcript.message.writing'), {
    after: routed,
  });
  await kernel.dispatch(
    'egress.preparing',
    { ...samplePayload('egress.preparing'), content: 'hello', explicit: true },
    { after: routed },
  );
  return journal.dispatches();
}

function today(contribute: (kernel: Kernel) => void): Kernel {
  const kernel = createKernel({ trace: true });
  contribute(kernel);
  return kernel;
}

const of = { extensionId: 'acme' } as const;
const usual = (kernel: Kernel): void => {
  kernel.contribute({
    ...of,
    family: 'ingress.normalized',
    class: 'augmenter',
    id: 'language',
    handler: () => ({ language: 'en' }),
  });
  kernel.contribute({
    ...of,
    family: 'routing.resolving',
    class: 'resolver',
    id: 'route',
    handler: () => select({ agentId: 'main' }),
  });
  kernel.contribute({
    ...of,
    family: 'egress.preparing',
    class: 'mutator',
    id: 'sign',
    handler: ({ payload }) => ({ content: `${payload.content}!` }),
  });
};

async function differences(
  kernel: Kernel,
  records: Awaited<ReturnType<typeof journalOf>>,
): Promise<string[]> {
  const told: string[] = [];
  for await (const one of replayDispatches(kernel, records)) {
    expect(one.notReplayed).toBeUndefined();
    told.push(...one.differences.map(({ what }) => `${one.recorded.event.family}: ${what}`));
  }
  return told;
}

describe('a dispatch that a journal has persisted (§20.6)', () => {
  it.each([
    ['no JSON', '{'],
    ['no outcome', '[]'],
    ['no event', '{"status":"passed"}'],
    [
      'a change of nobody',
      '{"status":"passed","event":{"family":"x","eventId":"e","payload":{}},"changes":[{}]}',
    ],
  ])('is refused where it is %s: unreadable-dispatch', (_, body) => {
    const read = () => recordedOutcome(record(body));
    expect(read).toThrow(expect.objectContaining({ code: 'unreadable-dispatch' }));
    expect(read).toThrow(/dispatch e cannot be read/);
  });

  it('is explained or refused, whatever is in it', () => {
    const known = fc.constantFrom('passed', 'cancelled', 'failed', {}, [], null, 'a', 1);
    const entry = fc.dictionary(
      fc.constantFrom(
        'extensionId',
        'contributionId',
        'kind',
        'message',
        'policy',
        'path',
        'why',
        'class',
        'result',
        'target',
        'rank',
        'explicit',
        'code',
        'changedBy',
      ),
      known,
    );
    const body = fc.dictionary(
      fc.constantFrom(
        'status',
        'event',
        'payload',
        'cancel',
        'candidates',
        'changes',
        'staleApprovals',
        'skipped',
        'failures',
        'steps',
        'selection',
      ),
      fc.oneof(
        known,
        entry,
        fc.array(entry),
        fc.constant({ family: 'egress.sent', eventId: 'e', payload: {} }),
      ),
    );
    fc.assert(
      fc.property(body, (value) => {
        try {
          for (const line of explained(recordedOutcome(record(JSON.stringify(value)))))
            expect(line).not.toContain('\n');
        } catch (error) {
          if (!isSluiceError(error)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a replay of a journal (§20.7, fault 36)', () => {
  it('comes to the same where nothing has changed, however often', async () => {
    const records = await journalOf(usual);
    expect(records).toHaveLength(4);
    const kernel = today(usual);
    expect(await differences(kernel, records)).toEqual([]);
    expect(await differences(kernel, records)).toEqual([]);
  });

  it('says what would differ with other extensions', async () => {
    const records = await journalOf(usual);
    const kernel = today((kernel) => {
      kernel.contribute({
        ...of,
        family: 'ingress.normalized',
        class: 'augmenter',
        id: 'language',
        handler: () => ({ language: 'de' }),
      });
      kernel.contribute({
        ...of,
        family: 'routing.resolving',
        class: 'resolver',
        id: 'route',
        handler: () => select({ agentId: 'other' }),
      });
      kernel.contribute({
        ...of,
        family: 'transcript.message.writing',
        class: 'mutator',
        id: 'fails',
        handler: () => {
          throw new Error('no');
        },
      });
      kernel.contribute({
        ...of,
        family: 'egress.preparing',
        class: 'veto',
        id: 'night',
        handler: ({ payload }) => (payload.content === 'hello' ? cancel('quiet-hours') : undefined),
      });
    });
    expect(await differences(kernel, records)).toEqual([
      'ingress.normalized: language was "en", would be "de"',
      'routing.resolving: was {"agentId":"main"} by acme/route, would be {"agentId":"other"} by acme/route',
      'transcript.message.writing: was not; would be: acme/fails failed open: threw',
      'egress.preparing: was passed, would be cancelled by acme/night: quiet-hours',
      'egress.preparing: was: content changed by acme/sign; would not be',
      'egress.preparing: content was "hello!", would be "hello"',
      'egress.preparing: language was "en", would be "de"',
    ]);
  });

  it('hands annotations on downstream, as the host did', async () => {
    const reads = (kernel: Kernel): void => {
      usual(kernel);
      kernel.contribute({
        ...of,
        family: 'egress.preparing',
        class: 'mutator',
        id: 'tag',
        priority: -1,
        handler: ({ payload, annotations }) => ({
          content: `${payload.content} [${annotations['language']}]`,
        }),
      });
    };
    expect(await differences(today(reads), await journalOf(reads))).toEqual([]);
  });

  it('leaves out what it cannot dispatch, and says why', async () => {
    const [first, ...rest] = await journalOf(usual);
    if (first === undefined) throw new Error('nothing was persisted');
    const broken = JSON.parse(first.body) as { event: { payload: Record<string, unknown> } };
    broken.event.payload = { nothing: 'fits' };
    const records = [
      { ...first, body: JSON.stringify(broken) },
      { ...first, omitted: 'hot-path' as const },
      {
        ...first,
        body: first.body.replace(
          '"sourceContributionId":null',
          '"sourceContributionId":"acme/asks"',
        ),
      },
      ...rest,
    ];
    const why: unknown[] = [];
    for await (const one of replayDispatches(today(usual), records)) why.push(one.notReplayed);
    expect(why).toEqual(['does-not-fit', 'no-payload', 'nested', undefined, undefined, undefined]);
  });
});

describe('the principal of a replay (judgement §1.8)', () => {
  it('is the one that the journal has for each dispatch, also where the dispatch before has another', async () => {
    const journal = memoryJournal();
    const ada = {
      channel: 'web',
      accountId: 'a',
      senderId: 'ada',
      isOwner: false,
      roles: ['admin'],
    };
    const eve = { ...ada, senderId: 'eve', roles: [] };
    const tapped = createKernel({ tap: dispatchTap(journal, { hotPathPayloads: true }) });
    const refuseStrangers = (kernel: Kernel): void => {
      kernel.contribute({
        ...of,
        family: 'egress.preparing',
        class: 'veto',
        id: 'admins',
        handler: ({ principal }) =>
          principal?.roles.includes('admin') === true ? undefined : cancel('policy'),
      });
    };
    refuseStrangers(tapped);
    const payload = { ...samplePayload('egress.preparing'), explicit: true };
    let after: Outcome | undefined;
    for (const principal of [ada, eve, null, ada])
      after = await tapped.dispatch('egress.preparing', payload, {
        principal,
        ...(after !== undefined && { after }),
      });
    const kernel = today(refuseStrangers);
    const seen: unknown[] = [];
    for await (const replayed of replayDispatches(kernel, await journal.dispatches())) {
      seen.push([replayed.today?.principal?.senderId, replayed.today?.status]);
      expect(replayed.differences).toEqual([]);
    }
    expect(seen).toEqual([
      ['ada', 'passed'],
      ['eve', 'cancelled'],
      [undefined, 'cancelled'],
      ['ada', 'passed'],
    ]);
  });
});
