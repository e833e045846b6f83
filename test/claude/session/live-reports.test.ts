import { expect, it } from 'vitest';
import { liveRuns, normalizeSession } from '../../../src/claude/index.js';
import { scriptFrames } from '../../support/csdk-script.js';
import { faultClock, settleAll } from '../../support/faults-clock.js';
import { LiveQuery } from '../../support/live-query.js';
import { wholeTexts } from '../../support/shown-texts.js';

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of source) list.push(one);
  return list;
}

it.each([
  ['without state frames', ''],
  ['with state frames', 'state(idle)'],
])(
  'the runs of a live query, %s: a command that never ends keeps no later answer (csdk §12.2)',
  async (_, idle) => {
    const clock = faultClock();
    const query = new LiveQuery();
    const told: (readonly string[])[] = [];
    query.give(...scriptFrames(`init bg(b1) A(m1)[text"a"] R(ok) ${idle}`.trim()));
    for await (const run of liveRuns(query, { end: 'settled', clock })) {
      const reading = all(normalizeSession(run, { clock }));
      await settleAll();
      clock.advance(60_000); // only the first one has to wait
      told.push(wholeTexts(await reading));
      if (told.length === 3) break;
      query.give(
        ...scriptFrames(`init A(n${told.length})[text"${told.length}"] R(ok) ${idle}`.trim()),
      );
    }
    expect(told).toEqual([['a'], ['1'], ['2']]);
  },
);

it('the runs of a live query: one that waited in vain leaves no timer to the next one (csdk §12.2)', async () => {
  const clock = faultClock();
  const query = new LiveQuery();
  query.give(...scriptFrames('init bg(b1) A(m1)[text"a"] bg() R(ok)'));
  const runs = liveRuns(query, { end: 'settled', clock });
  const first = all((await runs.next()).value);
  await settleAll();
  clock.advance(2_000);
  await first;
  const second = runs.next();
  await settleAll();
  clock.advance(600_000);
  query.give(...scriptFrames('init A(m2)[text"b"] R(ok)'));
  const { value } = await second;
  expect(await all(value)).toHaveLength(3);
});

it('the runs of a live query: one that waits for a report in vain ends, and the next prompt has its answer (csdk §12.2)', async () => {
  const clock = faultClock();
  const query = new LiveQuery();
  const runs = liveRuns(query, { end: 'settled', clock });
  const [first, late, second] = [
    scriptFrames('init bg(b1) A(m1)[text"a"] bg() R(ok)'),
    scriptFrames('init A(m2)[text"late"] R(ok,completed,origin=task-notification)'),
    scriptFrames('init A(m3)[text"b"] R(ok)'),
  ];
  query.give(...first);
  const told: string[][] = [];
  for await (const run of runs) {
    const reading = all(normalizeSession(run, { clock }));
    await settleAll();
    clock.advance(2_000);
    told.push([...wholeTexts(await reading)]);
    if (told.length === 1) query.give(...late, ...second);
    if (told.length === 2) break;
  }
  expect(told).toEqual([['a'], ['late', 'b']]); // what comes too late is no answer to a prompt of its own
});
