import { describe, expect, it } from 'vitest';
import {
  foldTimeline,
  keepTimeline,
  type LiveEntry,
  readTimeline,
  timelineRecorder,
} from '../../../src/host/index.js';
import { cancel, createKernel, defineExtension } from '../../../src/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { collectingLogger, samplePayload, startTestHost } from '../../../src/testing/index.js';
import { mortalJournal } from '../../support/mortal-journal.js';

/** A host whose timeline is persisted in its journal, and heard. */
async function keptHost(options: Parameters<typeof startTestHost>[0] = {}) {
  const journal = memoryJournal();
  const timeline = timelineRecorder();
  const heard: LiveEntry[] = [];
  timeline.listen((entry) => void heard.push(entry));
  timeline.listen(keepTimeline(journal));
  const test = await startTestHost({ journal, timeline, ...options });
  return { test, journal, heard };
}

/** The step of an entry, in words. */
function stepOf(entry: LiveEntry): string {
  if (entry.kind === 'dispatch') return entry.outcome.event.family;
  if (entry.kind === 'lane') return `lane ${entry.of}`;
  if (entry.kind === 'attempt') return `attempt ${entry.attempt} ${entry.status}`;
  return 'state' in entry ? `${entry.kind} ${entry.state}` : entry.kind;
}

const isNoDispatch = ({ kind }: LiveEntry): boolean => kind !== 'dispatch';

describe('the entries of a message', () => {
  it('tell of its receipt, its turns, its send with each attempt, and its end (sight §1.6 to §1.8)', async () => {
    const { test, heard } = await keptHost();
    await using _test = test;
    const { correlationId } = await test.say('hello');
    const entries = heard.filter((entry) => entry.correlationId === correlationId);
    expect(entries.filter(isNoDispatch).map(stepOf)).toEqual([
      'update accepted',
      'update begun',
      'lane conversation',
      'lane session',
      'send sending',
      'attempt 1 sent',
      'send sent',
      'update ended',
    ]);
    const steps = entries.map(stepOf);
    expect(steps.indexOf('ingress.received')).toBeGreaterThan(steps.indexOf('update begun'));
    expect(steps.indexOf('attempt 1 sent')).toBeGreaterThan(steps.indexOf('egress.sending'));
  });

  it('are persisted in the order in which they were heard (sight §1.5), and fold to the same timeline (sight §1.10)', async () => {
    const { test, journal, heard } = await keptHost();
    await using _test = test;
    const { correlationId = '' } = await test.say('hello');
    const kept = await readTimeline(journal, { correlationId });
    const live = heard.filter((entry) => entry.correlationId === correlationId);
    expect(kept.map(({ kind, id }) => [kind, id])).toEqual(live.map(({ kind, id }) => [kind, id]));
    const timeline = foldTimeline(kept);
    expect(timeline).toMatchObject({
      begun: 1,
      missing: 0,
      end: { state: 'ended', outcome: 'answered', agentId: 'main' },
      sends: [{ last: { state: 'sent', sendKind: 'reply' }, attempts: [{ attempt: 1 }] }],
    });
    const shown = (one: typeof timeline) => ({
      begun: one.begun,
      end: one.end?.outcome,
      sends: one.sends.map(({ id, last, attempts }) => [id, last.state, attempts.length]),
      stages: one.dispatches.map(({ outcome }) => outcome.event.family),
    });
    expect(shown(timeline)).toEqual(shown(foldTimeline(live)));
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

  it('do not tell an end that the journal has not persisted (sight §1.3)', async () => {
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
    const timeline = timelineRecorder();
    const listening = timeline.listen(() => undefined);
    listening[Symbol.dispose]();
    timeline.record(() => {
      made++;
      return { kind: 'gap', id: 'g', correlationId: '', count: 1, why: 'dropped' };
    });
    expect(made).toBe(0);
    expect(timeline.kernelOptions()).toEqual({});
  });

  it('reach a kernel that was made before somebody listens, and no longer (sight §1.4)', async () => {
    const timeline = timelineRecorder();
    const kernel = createKernel();
    timeline.attach(kernel);
    const heard: string[] = [];
    const dispatch = () =>
      kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
    await dispatch();
    const listening = timeline.listen((entry) => void heard.push(entry.kind));
    await dispatch();
    listening[Symbol.dispose]();
    await dispatch();
    expect(heard).toEqual(['dispatch']);
  });

  it('reach the others if one listener throws (sight §1.3)', () => {
    const logger = collectingLogger();
    const timeline = timelineRecorder({ logger });
    const heard: string[] = [];
    timeline.listen(() => {
      throw new Error('broken');
    });
    timeline.listen(({ id }) => void heard.push(id));
    timeline.record(() => ({ kind: 'gap', id: 'g', correlationId: '', count: 1, why: 'dropped' }));
    expect(heard).toEqual(['g']);
    expect(logger.entries).toMatchObject([{ level: 'error' }]);
  });
});
