import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptTimes } from '../../../src/host/receive/kept-times.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import type {
  AddedRun,
  ExtensionApi,
  LaterMessage,
  Schedule,
} from '../../../src/sdk/extension/index.js';
import { virtualClock, virtualStartMs } from '../../../src/testing/index.js';
import { type ActingLabOptions, actingLab } from '../../support/acting-lab.js';
import { hostLab } from '../../support/host-lab.js';

const minute = 60_000;
const at = (minutes: number) => virtualStartMs + minutes * minute;
const later = (minutes: number, more: Partial<LaterMessage> = {}): LaterMessage => ({
  ...{ channel: 'scripted', to: 'ada', content: 'Tea!', at: at(minutes), key: 'tea' },
  ...more,
});

interface RemindOptions extends ActingLabOptions {
  readonly handler?: (api: ExtensionApi) => unknown;
}

/** A host whose extension has the schedule `remind` without times. */
async function remindLab({ handler, ...options }: RemindOptions = {}) {
  const runs: AddedRun<string>[] = [];
  let reminders: Schedule<string> | undefined;
  const setup = (api: ExtensionApi): void => {
    options.setup?.(api);
    reminders = api.schedule<string>('remind', (run) => {
      runs.push(run);
      return handler?.(api);
    });
  };
  const lab = await actingLab({ ...options, setup });
  if (reminders === undefined) throw new Error('there is no schedule');
  return { ...lab, runs, reminders };
}

/** Lets time pass in small steps, so that a journal in a file keeps up. */
async function pass(lab: Awaited<ReturnType<typeof remindLab>>, minutes: number): Promise<void> {
  for (let step = 0; step < minutes * 4; step++) await lab.clock.advance(minute / 4);
}

const next = (journal: Journal, minutes: number, more: RemindOptions = {}) =>
  remindLab({ journal, clock: virtualClock(at(minutes)), ...more });

describe('times that are added while the host runs', () => {
  it('come when they are added again, if a host was killed while it wrote them (extensions-that-act §6.7)', async () => {
    const journal = memoryJournal();
    await using lab = await remindLab({ journal });
    const dentist = { at: at(3), key: 'dentist', data: 'at ten' };
    await lab.reminders.add(dentist);
    for (const { key } of await journal.keyValues.list('/times-due', { prefix: '', limit: 9 }))
      await journal.keyValues.write('/times-due', key, undefined, {}); // as a kill leaves it
    await lab.reminders.add(dentist);
    await pass(lab, 5);
    expect(lab.runs.map(({ key }) => key)).toEqual(['dentist']);
  });

  it('call the handler once, with the key and the data (extensions-that-act §6.7)', async () => {
    await using lab = await remindLab();
    const added = await lab.reminders.add({ at: at(3), key: 'dentist', data: 'at ten' });
    expect(added).toMatchObject({ key: 'dentist', dueAt: at(3), data: 'at ten' });
    expect(await lab.reminders.list()).toEqual([added]);
    await lab.clock.advance(2 * minute);
    expect(lab.runs).toEqual([]);
    expect(lab.host.schedules()).toEqual([{ extensionId: 'acting', name: 'remind' }]);
    await lab.clock.advance(10 * minute);
    expect(lab.runs).toMatchObject([
      { key: 'dentist', data: 'at ten', dueAt: at(3), attempt: 1, id: expect.any(String) },
    ]);
    expect(await lab.reminders.list()).toEqual([]);
    const told = { scheduleId: 'acting/remind/dentist', at: '2026-03-15T00:03:00.000Z' };
    expect(lab.of('schedule.changed').map(({ payload }) => payload)).toMatchObject([
      { ...told, action: 'started' },
      { ...told, action: 'finished', status: 'ok' },
    ]);
  });

  it('come again and again by a cron expression, until they are cancelled (extensions-that-act §6.7)', async () => {
    const journal = memoryJournal();
    await using lab = await remindLab({ journal });
    await lab.reminders.add({ cron: '*/2 * * * *', key: 'stand', data: 'up' });
    await lab.clock.advance(5 * minute);
    expect(await lab.reminders.cancel('stand')).toBe(true);
    expect(await lab.reminders.cancel('stand')).toBe(false);
    await lab.clock.advance(5 * minute);
    expect(lab.runs.map(({ dueAt }) => dueAt)).toEqual([at(2), at(4)]);
    expect(await journal.keyValues.namespaces()).toEqual([]); // nothing is left behind
  });

  it('are there after a kill, and run once for what was missed (extensions-that-act §6.7)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal });
    await lab.reminders.add({ at: at(3), key: 'once', data: 'a' });
    await lab.reminders.add({ cron: '* * * * *', key: 'each', data: 'b' });
    await lab.kill();
    await using second = await next(journal, 30.5);
    await pass(second, 1);
    expect(second.runs.map(({ key, dueAt }) => [key, dueAt])).toEqual([
      ['each', at(1)],
      ['once', at(3)],
      ['each', at(30)],
      ['each', at(31)],
    ]);
  });

  it.each([memoryJournal({ acknowledge: 'ended' }), memoryJournal()])(
    'are added once under a key, before and after they have come (extensions-that-act §6.8)',
    async (journal) => {
      await using lab = await remindLab({ journal });
      const first = await lab.reminders.add({ at: at(3), key: 'a', data: 'x' });
      expect(await lab.reminders.add({ at: at(9), key: 'a', data: 'x' })).toEqual(first);
      await expect(lab.reminders.add({ at: at(3), key: 'a', data: 'y' })).rejects.toMatchObject({
        code: 'key-conflict',
      });
      await pass(lab, 5);
      expect(await lab.reminders.add({ at: at(3), key: 'a', data: 'x' })).toEqual({
        key: 'a',
        id: first.id,
        data: 'x',
      });
      await pass(lab, 10);
      expect(lab.runs).toHaveLength(1);
    },
  );

  it('are one if two calls of one moment give the same, and in conflict if not (extensions-that-act §6.8)', async () => {
    await using lab = await remindLab();
    const add = (data: string, minutes = 3) =>
      lab.reminders.add({ at: at(minutes), key: 'a', data });
    const [first, same] = await Promise.all([add('x'), add('x', 4)]);
    expect(same).toEqual(first);
    await lab.reminders.cancel('a');
    const ends = await Promise.allSettled([add('x'), add('y')]);
    expect(ends).toMatchObject([
      { status: 'fulfilled', value: { data: 'x' } },
      { status: 'rejected', reason: { code: 'key-conflict' } },
    ]);
    await lab.clock.advance(10 * minute);
    expect(lab.runs.map(({ data }) => data)).toEqual(['x']);
  });

  it('keep their key if they are cancelled too late (extensions-that-act §6.8)', async () => {
    await using lab = await remindLab();
    const add = () => lab.reminders.add({ at: at(1), key: 'a', data: 'x' });
    await add();
    await lab.clock.advance(1.5 * minute);
    expect(await lab.reminders.cancel('a')).toBe(false);
    await add();
    await lab.clock.advance(minute);
    expect(lab.runs).toHaveLength(1);
  });

  it('all come in their minute, however many they are (extensions-that-act §6.7)', async () => {
    await using lab = await remindLab({ journal: memoryJournal() });
    for (let one = 0; one < 250; one++)
      await lab.reminders.add({ at: at(1), key: `${one}`, data: '' });
    await pass(lab, 1.5);
    expect(lab.runs).toHaveLength(250);
  });

  it('name another schedule if another key, or another cron expression, is given (extensions-that-act §6.8)', async () => {
    await using lab = await remindLab();
    await lab.reminders.add({ cron: '0 9 * * *', key: 'a', data: 'x' });
    const other = lab.reminders.add({ cron: '0 10 * * *', key: 'a', data: 'x' });
    await expect(other).rejects.toMatchObject({ code: 'key-conflict' });
    const { key } = await lab.reminders.add({ at: at(3), data: 'x' });
    expect(key).toMatch(/^[\da-f-]{36}$/);
  });

  it.each<[Parameters<Schedule<string>['add']>[0], string]>([
    [{ at: at(-2), data: '' }, 'its time has passed'],
    [{ at: at(6_000_000), data: '' }, 'its time is more than ten years ahead'],
    [{ at: Number.NaN, data: '' }, 'its "at" must be a date'],
    [{ at: 'soon', data: '' }, 'its "at" must be a date'],
    [{ at: '', data: '' }, 'its "at" must be a date'],
    [{ at: new Date(Number.NaN), data: '' }, 'its "at" must be a date'],
    [{ at: Number.POSITIVE_INFINITY, data: '' }, 'its "at" must be a date'],
    [{ at: '2026-02-30T09:00', data: '' }, 'its "at" must be a date'],
    [{ at: virtualStartMs / 1_000, data: '' }, 'its time has passed'], // seconds
    [{ cron: 'x', data: '' }, 'its "cron" cannot be read'],
    [{ at: at(1), data: '', ...{ misfire: 'skip' } }, 'there is no option "misfire"'],
    [{ at: at(1), data: new Date() as unknown as string }, 'data: it is an instance of Date'],
    [{ at: at(1), data: 'x'.repeat(2_000_000) }, 'it is too long'],
  ])(
    'that are wrong are refused, and nothing is kept: %# (extensions-that-act §6.9)',
    async (times, problem) => {
      await using lab = await remindLab();
      const adding = lab.reminders.add({ ...times, key: 'a' });
      await expect(adding).rejects.toMatchObject({ code: 'bad-time' });
      await expect(adding).rejects.toThrow(problem);
      expect(await lab.reminders.list()).toEqual([]);
    },
  );

  it('that have just passed come at once (extensions-that-act §6.9)', async () => {
    await using lab = await remindLab();
    await lab.reminders.add({ at: at(-0.5), data: 'x' });
    await lab.clock.advance(1_000);
    expect(lab.runs).toHaveLength(1);
  });

  it('are at most 10,000 of an extension (extensions-that-act §6.9)', async () => {
    const journal = memoryJournal();
    await using lab = await remindLab({ journal });
    for (let row = 0; row < 10_000; row++)
      await journal.keyValues.write('/times/acting', `x/${row}`, { body: '{}' }, {});
    const adding = lab.reminders.add({ at: at(3), data: 'x' });
    await expect(adding).rejects.toMatchObject({ code: 'schedule-full' });
    const used = (await journal.keyValues.namespaces()).map(({ namespace }) => namespace);
    expect(used).toEqual(['/times/acting']); // the refused one has left nothing
  });

  it('by a cron expression have one run that waits while their extension is gone (extensions-that-act §6.10)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal });
    await lab.reminders.add({ cron: '* * * * *', key: 'a', data: 'x' });
    await lab.kill();
    const without = await actingLab({ journal, clock: virtualClock(at(2)) });
    for (let step = 0; step < 40; step++) await without.clock.advance(minute / 4);
    expect(await journal.updates({ states: ['accepted', 'handling'] })).toHaveLength(1);
    await without.kill();
    await using last = await next(journal, 12.5);
    await pass(last, 1);
    expect(last.runs.map(({ dueAt }) => dueAt)).toEqual([at(1), at(13)]);
  });

  it('wait for their extension, and are run by the version that is loaded then (extensions-that-act §6.10)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal });
    await lab.reminders.add({ at: at(3), key: 'a', data: 'x' });
    await lab.kill();
    const without = await actingLab({ journal, clock: virtualClock(at(2)) });
    await without.clock.advance(5 * minute);
    expect(await journal.updates({ states: ['accepted', 'handling'] })).toMatchObject([
      { accountId: 'schedule:acting/remind' },
    ]);
    await without.kill();
    await using last = await next(journal, 8);
    await pass(last, 1);
    expect(last.runs).toMatchObject([{ key: 'a', data: 'x', dueAt: at(3) }]);
  });

  it('are taken in once for each due time, whenever hosts are killed (extensions-that-act §6.7)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }),
        async (kills) => {
          const journal = memoryJournal();
          const ran: (readonly [string, number])[] = [];
          let minutes = 0;
          for (const writes of [...kills, Number.POSITIVE_INFINITY]) {
            let left = writes;
            const lab = await next(journal, minutes, {
              failing: () => (--left < 0 ? new Error('killed') : undefined),
            });
            const keep = async (): Promise<void> => {
              await lab.reminders.add({ at: at(3), key: 'once', data: 'x' });
              await lab.reminders.add({ cron: '*/2 * * * *', key: 'each', data: 'x' });
            };
            await keep().catch(() => undefined);
            await pass(lab, 2);
            minutes += 2;
            await lab.kill();
            ran.push(...lab.runs.map(({ key, dueAt }) => [key, dueAt] as const));
          }
          const last = await next(journal, minutes);
          await pass(last, 6);
          ran.push(...last.runs.map(({ key, dueAt }) => [key, dueAt] as const));
          await last.host.stop();
          const updates = await journal.updates({ limit: 1_000 });
          const ids = updates.map(({ eventId }) => eventId);
          expect(new Set(ids).size).toBe(ids.length);
          const dueOf = (key: string) =>
            new Set(ran.filter(([one]) => one === key).map(([, due]) => due));
          expect(dueOf('once').size).toBe(1);
          expect(dueOf('each').size).toBe(
            updates.filter(({ updateId }) => updateId?.includes('@')).length,
          );
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('a run that is resumed', () => {
  it('may send and add times at once (extensions-that-act §6.2)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal, handler: () => new Promise(() => undefined) });
    await lab.reminders.add({ at: at(1), key: 'a', data: 'x' });
    await pass(lab, 2);
    expect(lab.runs).toHaveLength(1);
    await lab.kill();
    const handler = async (acting: ExtensionApi): Promise<void> => {
      await acting.send({ channel: 'scripted', to: 'ada', content: 'Tea!' });
    };
    await using second = await next(journal, 2, { handler });
    await pass(second, 1);
    expect(second.runs).toMatchObject([{ key: 'a', attempt: 2 }]);
    expect(second.of('egress.sent')).toHaveLength(1);
    expect(await journal.updates({ states: ['dead'] })).toEqual([]);
  });
});

describe('the times that a journal keeps', () => {
  it('are found when they are due, however the calls of several hosts interleave (extensions-that-act §6.7)', async () => {
    const call = fc.oneof(
      fc.record({ does: fc.constant('add' as const), dueAtMs: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ does: fc.constant('look' as const), dueAtMs: fc.integer({ min: 2, max: 4 }) }),
      fc.record({ does: fc.constant('cancel' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(call, { minLength: 2, maxLength: 5 }),
        async (scheduler, calls) => {
          const { keyValues } = memoryJournal();
          const later = <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
            scheduler.scheduleFunction(work);
          const { get, list, write, namespaces, clear } = keyValues;
          const own = [get, list, write].map((work) => work.bind(keyValues)) as [
            typeof get,
            typeof list,
            typeof write,
          ];
          const [slowGet, slowList, slowWrite] = [later(own[0]), later(own[1]), later(own[2])];
          const times = new KeptTimes({
            ...{ get: slowGet, list: slowList, write: slowWrite, namespaces, clear },
          });
          const name = { extensionId: 'acting', name: 'remind', id: 'a' };
          const row = { ...name, key: 'a', job: {}, spec: '{}', digest: 'x' };
          const work = calls.map(async (one) => {
            if (one.does === 'cancel') await times.cancel(name);
            else if (one.does === 'add') await times.add({ ...row, dueAtMs: one.dueAtMs });
            else
              for (const entry of await times.some()) {
                const found = await times.of(entry);
                if (found !== undefined) await times.moveOn(found, one.dueAtMs);
              }
          });
          await scheduler.waitFor(Promise.all(work));
          const left = await new KeptTimes(keyValues).find(name);
          const entries = await new KeptTimes(keyValues).some();
          if (left !== undefined)
            expect(entries.map(({ dueAtMs }) => dueAtMs)).toContain(left.dueAtMs);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a message with a time', () => {
  it('goes out when it comes, once, and can be listed and cancelled (extensions-that-act §4.8)', async () => {
    await using lab = await remindLab();
    const kept = await lab.api.send(later(3));
    expect(kept).toMatchObject({ key: 'tea', dueAt: at(3), id: expect.stringMatching(/^x-/) });
    await lab.api.send(later(4, { key: 'cake', content: 'Cake!' }));
    expect(await lab.api.laterSends.list()).toMatchObject([
      { key: 'tea', dueAt: at(3), data: { channel: 'scripted', to: 'ada', content: 'Tea!' } },
      { key: 'cake', dueAt: at(4) },
    ]);
    expect(await lab.api.laterSends.cancel('cake')).toBe(true);
    await lab.clock.advance(2 * minute);
    expect(lab.of('egress.sent')).toEqual([]);
    await lab.clock.advance(8 * minute);
    expect(
      lab.of('egress.preparing').map(({ event, payload }) => [event.eventId, payload.content]),
    ).toEqual([[kept.id, 'Tea!']]);
    expect(lab.of('egress.sent')[0]?.event.metadata).toMatchObject({ extensionId: 'acting' });
  });

  it('is the same message under the same key, also when it has gone out (extensions-that-act §4.8)', async () => {
    await using lab = await remindLab({ journal: memoryJournal() });
    const { id } = await lab.api.send(later(3));
    expect(await lab.api.send(later(5))).toEqual({
      key: 'tea',
      dueAt: at(3),
      id,
      data: expect.anything(),
    });
    const other = lab.api.send(later(3, { content: 'Cake!' }));
    await expect(other).rejects.toMatchObject({ code: 'key-conflict' });
    await pass(lab, 5);
    expect(await lab.api.send(later(3))).toEqual({ key: 'tea', id, data: expect.anything() });
    await expect(lab.api.send(later(9, { content: 'Cake!' }))).rejects.toThrow('another message');
    await pass(lab, 10);
    expect(lab.of('egress.sent')).toHaveLength(1);
  });

  it('goes out after a kill, late if no host was there (extensions-that-act §4.8)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal });
    await lab.api.send(later(3));
    await lab.kill();
    await using second = await next(journal, 90);
    await pass(second, 1);
    expect(second.of('egress.sent')).toHaveLength(1);
  });

  it('does not go out if its grant was taken away meanwhile (extensions-that-act §4.8)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal });
    await lab.api.send(later(3));
    await lab.kill();
    await using second = await next(journal, 2, { grants: { acting: ['schedule'] } });
    await pass(second, 2);
    expect(second.of('egress.preparing')).toEqual([]);
    expect(second.ends).toMatchObject([
      { status: 'failed', reason: 'acting has no grant "send:scripted"' },
    ]);
  });

  it('goes out once if its extension is gone (extensions-that-act §4.8)', async () => {
    const journal = memoryJournal();
    const lab = await remindLab({ journal });
    await lab.api.send(later(3));
    await lab.kill();
    await using second = await hostLab({
      ...{ journal: { opened: journal }, clock: virtualClock(at(2)) },
    });
    for (let step = 0; step < 8; step++) await second.clock.advance(minute / 4);
    expect(second.of('egress.sent')).toHaveLength(1);
  });

  it('is kept by `send` alone, which asks for the grant (extensions-that-act §4.8)', async () => {
    await using lab = await remindLab();
    expect(Object.keys(lab.api.laterSends)).toEqual(['list', 'cancel']);
  });

  it('is judged as a message when it is kept: a wrong one is refused at once (extensions-that-act §4.8)', async () => {
    await using lab = await remindLab();
    const wrong = lab.api.send(later(3, { content: 7 as unknown as string }));
    await expect(wrong).rejects.toMatchObject({ code: 'bad-payload' });
    await expect(lab.api.send(later(-3))).rejects.toMatchObject({ code: 'bad-time' });
  });
});
