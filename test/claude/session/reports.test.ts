import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CsdkFrame,
  checkOrdering,
  coderStream,
  liveRuns,
  type NormalizeOptions,
  normalizeSession,
  splitRuns,
} from '../../../src/claude/index.js';
import type { Clock } from '../../../src/kernel/internal.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { frames } from '../../support/bridge-lab.js';
import { scriptFrames } from '../../support/csdk-script.js';
import { faultClock, settleAll } from '../../support/faults-clock.js';
import { LiveQuery } from '../../support/live-query.js';
import { recordings } from '../../support/recordings.js';
import { streamedTexts, wholeTexts } from '../../support/shown-texts.js';

const { init, text, result, system } = frames;
const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31);

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of source) list.push(one);
  return list;
}

/** A stream that never ends, as that of a query whose process hangs. */
async function* hanging(given: readonly CsdkFrame[]): AsyncGenerator<CsdkFrame> {
  yield* given;
  await new Promise(() => undefined);
}

/** The texts of the main thread, as `coderStream` tells them: it ends with its stream alone. */
async function coderTexts(given: readonly CsdkFrame[]): Promise<string> {
  const events = await all(coderStream(given));
  return events
    .map((event) => (event.type === 'message' && event.delta === true ? event.text : ''))
    .join('');
}

async function sessionTexts(runs: readonly (readonly CsdkFrame[])[], options?: NormalizeOptions) {
  const events: SessionEvent[] = [];
  for (const run of runs) events.push(...(await all(normalizeSession(run, options))));
  expect(wholeTexts(events)).toEqual(streamedTexts(events));
  return streamedTexts(events).join('');
}

it.each(recordings())(
  '$name: what is told by the default end is what coderStream tells (csdk §7.2, csdk §12.2)',
  async ({ lines }) => {
    const recorded = lines.map((line) => JSON.parse(line) as CsdkFrame); // recordings hold one a line
    const runs = splitRuns(recorded, { end: 'settled' });
    expect(await sessionTexts(runs)).toBe(await coderTexts(recorded));
    for (const run of runs) expect(await sessionTexts([run])).toBe(await coderTexts(run));
  },
);

/** A task: the time of its end, and if the SDK holds back its idle state for it. */
interface Task {
  /** The place of its end among the places of the stream. */
  readonly at: number;
  /** Its notification comes before the frame that leaves it out of the list. */
  readonly isToldFirst: boolean;
  readonly isAgent: boolean;
}

/**
 * A query as the SDK makes it: the main turn, then one turn for all reports that came until then, as long as there are any. A
 * task may end between any two frames.
 */
function queryOf(tasks: readonly Task[], tellsState: boolean) {
  const given: CsdkFrame[] = [];
  const said: string[] = [];
  const running = new Map(tasks.map((task, index) => [`t${index}`, task]));
  let reports = 0;
  let place = 0;
  const list = () =>
    given.push(
      system('background_tasks_changed', {
        tasks: [...running.keys()].map((task_id) => ({ task_id })),
      }),
    );
  const end = (task_id: string, { isToldFirst }: Task): void => {
    running.delete(task_id);
    if (!isToldFirst) list();
    given.push(
      system('task_updated', { task_id, patch: { status: 'completed' } }),
      system('task_notification', { task_id, status: 'completed' }),
    );
    if (isToldFirst) list();
    reports++;
  };
  const step = (...next: readonly CsdkFrame[]): void => {
    for (const frame of next) {
      given.push(frame);
      for (const [id, task] of [...running]) if (task.at === place) end(id, task);
      place++;
    }
  };
  const state = (name: string): void => {
    if (tellsState) given.push(system('session_state_changed', { state: name }));
  };
  const turn = (more: Readonly<Record<string, unknown>>): void => {
    reports = 0;
    given.push(init());
    const words = `Turn ${said.length + 1}. `;
    said.push(words);
    step(text(`m${said.length}`, words), result(more));
  };
  state('running');
  given.push(init());
  for (const [index, { isAgent }] of tasks.entries()) {
    const task_type = isAgent ? 'local_agent' : 'local_bash';
    list();
    given.push(system('task_started', { task_id: `t${index}`, task_type, is_backgrounded: true }));
  }
  said.push('Turn 1. ');
  step(text('m1', 'Turn 1. '), result());
  for (let isIdle = false; ; ) {
    if (reports > 0) {
      if (isIdle) state('running');
      isIdle = false;
      turn({ origin: { kind: 'task-notification' }, num_turns: 1 });
    } else {
      if (!isIdle && ![...running.values()].some(({ isAgent }) => isAgent)) {
        state('idle');
        isIdle = true;
      }
      const [next] = running;
      if (next === undefined) return { given, said };
      end(...next);
    }
  }
}

const task: fc.Arbitrary<Task> = fc.record({
  at: fc.nat({ max: 8 }),
  isToldFirst: fc.boolean(),
  isAgent: fc.boolean(),
});

describe(`reports of tasks (SLUICE_SEED=${seed})`, () => {
  it('are told in order, once, wherever they come, in one run that ends (csdk §7.2, csdk §12.2)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(task, { maxLength: 4 }),
        fc.boolean(),
        async (tasks, tellsState) => {
          const { given, said } = queryOf(tasks, tellsState);
          const told = said.join('');
          expect(await coderTexts(given)).toBe(told);
          expect(await sessionTexts([given])).toBe(told);
          expect(splitRuns(given, { end: 'settled' })).toEqual([given]);
          const clock = faultClock();
          const reading = all(normalizeSession(hanging(given), { clock }));
          await settleAll();
          clock.advance(2_000); // the bound of a run of which nothing is left
          const events = await reading;
          expect(checkOrdering(events)).toEqual([]);
          expect(wholeTexts(events).join('')).toBe(told);
        },
      ),
      { seed, numRuns: 300 },
    );
  });
});

describe('a stream that goes silent after a result (csdk §7.3)', () => {
  it.each([
    ['at once', 'A(m1)[text"a"] R(ok)', 0],
    ['at once, if it is idle', 'state(running) A(m1)[text"a"] R(ok) state(idle)', 0],
    ['in a moment, if a report may come', 'bg(b1) A(m1)[text"a"] bg() R(ok)', 2_000],
    [
      'in a moment, if it was idle and its command ended',
      'state(running) bg(b1) A(m1)[text"a"] R(ok) state(idle) bg()',
      2_000,
    ],
    [
      'in a moment, if it is idle and only a result of no turn came',
      'R(ok,completed,turns=0) state(idle)',
      2_000,
    ],
    ['in time, if it never says that it is idle', 'state(running) A(m1)[text"a"] R(ok)', 60_000],
    ['in time, if a task is left', 'bg(b1) A(m1)[text"a"] R(ok)', 60_000],
    ['in time, if a report is on its way', 'bg(b1) A(m1)[text"a"] R(ok) bg()', 60_000],
    ['in time, if a turn begins and says nothing', 'bg(b1) A(m1)[text"a"] bg() R(ok) init', 60_000],
    [
      'in time, if only another’s turn had a result',
      'A(m1)[text"a"] R(ok,completed,origin=peer)',
      60_000,
    ],
    ['in time, if only a result of no turn came', 'R(ok,completed,turns=0)', 60_000],
  ])('ends %s', async (_when, script, ms) => {
    const clock = faultClock();
    let isOver = false;
    const reading = all(normalizeSession(hanging(scriptFrames(script)), { clock })).then(
      (events) => {
        isOver = true;
        return events;
      },
    );
    await settleAll();
    expect(isOver).toBe(ms === 0);
    clock.advance(ms - 1);
    await settleAll();
    expect(isOver).toBe(ms === 0);
    clock.advance(1);
    expect((await reading).at(-1)).toMatchObject({ type: 'agent_end' });
    expect((await reading).at(-1)).not.toHaveProperty('error');
    expect(clock.armed).toBe(0);
  });

  it('is not one whose reader is slow: the report is read all the same', async () => {
    const clock = faultClock();
    const given = scriptFrames(
      'state(running) bg(b1) A(m1)[tu t1 WebFetch {}] U[tr t1 detached] R(ok) state(idle) bg() U[tr t1 ok "page"] init A(m2)[text"b"] R(ok,completed,origin=task-notification) state(idle)',
    );
    const events: SessionEvent[] = [];
    for await (const event of normalizeSession(given, { clock })) {
      events.push(event);
      if (event.type === 'tool_execution_end') clock.advance(10_000);
    }
    expect(wholeTexts(events)).toEqual(['b']);
  });

  it('is silent also if a call goes on to tell of itself (csdk §7.3)', async () => {
    for (const read of [
      (query: LiveQuery, clock: Clock) => all(normalizeSession(query, { clock })),
      async (query: LiveQuery, clock: Clock) => {
        for await (const run of liveRuns(query, { end: 'settled', clock })) return await all(run);
        return [];
      },
    ]) {
      const clock = faultClock();
      const query = new LiveQuery();
      query.give(...scriptFrames('bg(b1) A(m1)[tu t1 Bash {}] U[tr t1 detached] bg() R(ok)'));
      let isOver = false;
      const reading = read(query, clock).then(() => {
        isOver = true;
      });
      for (const seconds of [1, 2]) {
        expect(isOver).toBe(false);
        query.give(...scriptFrames(`TP(t1,${seconds}s)`));
        await settleAll();
        clock.advance(1_000);
        await settleAll();
      }
      await reading;
    }
  });
});
