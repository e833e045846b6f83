import { describe, expect, it } from 'vitest';
import { foldWay, keepWay, type LiveFact, readWay, wayRecorder } from '../../../src/host/index.js';
import { cancel, createKernel, defineExtension } from '../../../src/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { collectingLogger, samplePayload, startTestHost } from '../../../src/testing/index.js';
import { mortalJournal } from '../../support/mortal-journal.js';

/** A host whose way is kept in its journal, and heard. */
async function keptHost(options: Parameters<typeof startTestHost>[0] = {}) {
  const journal = memoryJournal();
  const way = wayRecorder();
  const heard: LiveFact[] = [];
  way.listen((fact) => void heard.push(fact));
  way.listen(keepWay(journal));
  const test = await startTestHost({ journal, way, ...options });
  return { test, journal, heard };
}

/** The step of a fact, in words. */
function stepOf(fact: LiveFact): string {
  if (fact.kind === 'dispatch') return fact.outcome.event.family;
  if (fact.kind === 'lane') return `lane ${fact.of}`;
  if (fact.kind === 'attempt') return `attempt ${fact.attempt} ${fact.status}`;
  return 'state' in fact ? `${fact.kind} ${fact.state}` : fact.kind;
}

const isNoDispatch = ({ kind }: LiveFact): boolean => kind !== 'dispatch';

describe('the facts of a message', () => {
  it('tell of its receipt, its turns, its send with each attempt, and its end (sight §1.6 to §1.8)', async () => {
    const { test, heard } = await keptHost();
    await using _test = test;
    const { correlationId } = await test.say('hello');
    const facts = heard.filter((fact) => fact.correlationId === correlationId);
    expect(facts.filter(isNoDispatch).map(stepOf)).toEqual([
      'update accepted',
      'update begun',
      'lane conversation',
      'lane session',
      'send sending',
      'attempt 1 sent',
      'send sent',
      'update ended',
    ]);
    const steps = facts.map(stepOf);
    expect(steps.indexOf('ingress.received')).toBeGreaterThan(steps.indexOf('update begun'));
    expect(steps.indexOf('attempt 1 sent')).toBeGreaterThan(steps.indexOf('egress.sending'));
  });

  it('are kept in the order in which they were heard (sight §1.5), and fold to the same way (sight §1.10)', async () => {
    const { test, journal, heard } = await keptHost();
    await using _test = test;
    const { correlationId = '' } = await test.say('hello');
    const kept = await readWay(journal, { correlationId });
    const live = heard.filter((fact) => fact.correlationId === correlationId);
    expect(kept.map(({ kind, id }) => [kind, id])).toEqual(live.map(({ kind, id }) => [kind, id]));
    const way = foldWay(kept);
    expect(way).toMatchObject({
      begun: 1,
      missing: 0,
      end: { state: 'ended', outcome: 'answered', agentId: 'main' },
      sends: [{ last: { state: 'sent', sendKind: 'reply' }, attempts: [{ attempt: 1 }] }],
    });
    const shown = (one: typeof way) => ({
      begun: one.begun,
      end: one.end?.outcome,
      sends: one.sends.map(({ id, last, attempts }) => [id, last.state, attempts.length]),
      stages: one.dispatches.map(({ outcome }) => outcome.event.family),
    });
    expect(shown(way)).toEqual(shown(foldWay(live)));
  });

  it('name the cancel of a send with its code and author (sight §1.8)', async () => {
    const quiet = defineExtension({
      id: 'quiet',
      setup: (api) => void api.veto('egress.preparing', 'hush', () => cancel('quiet-hours')),
    });
    const { test, heard } = await keptHost({ extensions: [quiet] });
    await using _test = test;
    await test.say('hello');
    expect(heard).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'send', state: 'cancelled' },
        ...{ cause: 'quiet-hours', reason: 'quiet/hush' },
      }),
    );
  });

  it('do not tell an end that the journal has not kept (sight §1.3)', async () => {
    const failing = (kind: string, nth: number) =>
      kind === 'endUpdate' && nth === 1 ? new Error('the disk is full') : undefined;
    const journal = mortalJournal(memoryJournal(), failing);
    const { test, heard } = await keptHost({ journal });
    await using _test = test;
    await test.say('hello');
    const steps = heard.filter(({ kind }) => kind === 'update').map(stepOf);
    expect(steps.slice(0, 3)).toEqual(['update accepted', 'update begun', 'update left']);
  });

  it('do not reach a listener that has left, and none is made without one (sight §1.4)', async () => {
    let made = 0;
    const way = wayRecorder();
    const listening = way.listen(() => undefined);
    listening[Symbol.dispose]();
    way.record(() => {
      made++;
      return { kind: 'gap', id: 'g', correlationId: '', count: 1, why: 'dropped' };
    });
    expect(made).toBe(0);
    expect(way.kernelOptions()).toEqual({});
  });

  it('reach a kernel that was made before somebody listens, and no longer (sight §1.4)', async () => {
    const way = wayRecorder();
    const kernel = createKernel();
    way.attach(kernel);
    const heard: string[] = [];
    const dispatch = () =>
      kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
    await dispatch();
    const listening = way.listen((fact) => void heard.push(fact.kind));
    await dispatch();
    listening[Symbol.dispose]();
    await dispatch();
    expect(heard).toEqual(['dispatch']);
  });

  it('reach the others if one listener throws (sight §1.3)', () => {
    const logger = collectingLogger();
    const way = wayRecorder({ logger });
    const heard: string[] = [];
    way.listen(() => {
      throw new Error('broken');
    });
    way.listen(({ id }) => void heard.push(id));
    way.record(() => ({ kind: 'gap', id: 'g', correlationId: '', count: 1, why: 'dropped' }));
    expect(heard).toEqual(['g']);
    expect(logger.entries).toMatchObject([{ level: 'error' }]);
  });
});
