import { describe, expect, it } from 'vitest';
import {
  type CsdkFrame,
  checkOrdering,
  liveRuns,
  normalizeSession,
  splitRuns,
} from '../../src/claude/index.js';
import { watchedRuns } from '../../src/claude/runs/live-runs.js';
import type { SessionEvent } from '../../src/sdk/stream/index.js';
import { frames } from '../support/bridge-lab.js';
import { LiveQuery } from '../support/live-query.js';
import { recordings, visibleTexts } from '../support/recordings.js';
import { wholeTexts } from '../support/shown-texts.js';

const { init, text, call, answer, result, system } = frames;

async function* recording(types: string): AsyncGenerator<CsdkFrame> {
  for (const type of types.split(' ').filter((word) => word !== '')) yield { type };
}

async function runsOf(types: string): Promise<string[]> {
  const runs: string[] = [];
  for await (const run of liveRuns(recording(types))) {
    const read: string[] = [];
    for await (const { type } of run) read.push(type);
    runs.push(read.join(' '));
  }
  return runs;
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of source) list.push(one);
  return list;
}

describe('the runs of a query (csdk §12.1)', () => {
  it('end with their result', async () => {
    expect(await runsOf('system assistant result system stream_event result')).toEqual([
      'system assistant result',
      'system stream_event result',
    ]);
  });

  it('take what follows the last result only if the model speaks in it', async () => {
    expect(await runsOf('assistant result system')).toEqual(['assistant result']);
    expect(await runsOf('assistant result assistant')).toEqual(['assistant result', 'assistant']);
  });

  it('are one if there is no result, and none if there is nothing', async () => {
    expect(await runsOf('system')).toEqual(['system']);
    expect(await runsOf('')).toEqual([]);
  });

  it('begin after 1,000 frames without speech, so that a large file is not held in memory', async () => {
    const [run = ''] = await runsOf('system '.repeat(2_500));
    expect(run.split(' ')).toHaveLength(2_500);
    let given = 0;
    async function* silent(): AsyncGenerator<CsdkFrame> {
      for (;;) yield { type: 'system', n: given++ };
    }
    for await (const _ of liveRuns(silent())) break;
    expect(given).toBe(1_000);
  });

  it.each(recordings())('$name: are those of splitRuns, frame by frame', async ({ lines }) => {
    const recorded = lines.map((line) => JSON.parse(line) as CsdkFrame); // recordings hold one a line
    const runs = [];
    for await (const run of liveRuns(recorded)) runs.push(await all(run));
    expect(runs).toEqual(splitRuns(recorded));
  });

  it.each(['two-turns.jsonl', 'queued-prompts.jsonl', 'compaction-manual.jsonl'])(
    '%s: every text comes once, run by run (field trial IV.6)',
    async (name) => {
      const { lines = [] } = recordings().find((one) => one.name === name) ?? {};
      const recorded = lines.map((line) => JSON.parse(line) as CsdkFrame);
      const texts: string[] = [];
      let runs = 0;
      for await (const run of liveRuns(recorded)) {
        const events: SessionEvent[] = await all(normalizeSession(run));
        expect(checkOrdering(events)).toEqual([]);
        expect(events.at(-1)).not.toHaveProperty('error');
        texts.push(...wholeTexts(events));
        runs++;
      }
      expect(runs).toBeGreaterThan(1);
      expect(texts).toEqual(visibleTexts(lines));
    },
  );

  it('with “settled” go on while a background task is left (csdk §12.2)', async () => {
    const { lines = [] } = recordings().find(({ name }) => name === 'nested-subagents.jsonl') ?? {};
    const recorded = lines.map((line) => JSON.parse(line) as CsdkFrame);
    const left: string[] = [];
    const runs = [];
    for await (const run of liveRuns(recorded, { end: 'settled' })) {
      const onDiagnostic = ({ kind }: { kind: string }) => void left.push(kind);
      runs.push(await all(normalizeSession(run, { end: 'idle', onDiagnostic })));
    }
    expect(runs).toHaveLength(1);
    expect(left).toEqual(['result_passed_over']);
    const events = runs.flat();
    expect(events.at(-1)).not.toHaveProperty('error');
    expect(wholeTexts(events)).toEqual(visibleTexts(lines));
  });

  const task = system('task_started', { task_id: 'b1', is_backgrounded: true });
  const taskOver = system('task_notification', { task_id: 'b1', status: 'completed' });
  const asked = (id: string) => [init(), text(id, `Answer ${id}.`), result()];

  it('with “settled” end although a task was left, if the conversation was reset (csdk §12.2)', async () => {
    const rest = [{ type: 'conversation_reset' }, ...asked('a')];
    const first: CsdkFrame[] = [init(), task, ...rest];
    const second = [taskOver, ...asked('b')];
    const recorded = [...first, ...second];
    const shown: string[] = [];
    const runs: CsdkFrame[][] = [];
    for await (const run of liveRuns(recorded, { end: 'settled' })) {
      const events = await all(normalizeSession(run, { end: 'idle' }));
      shown.push(...wholeTexts(events));
    }
    for await (const run of liveRuns(recorded, { end: 'settled' })) runs.push(await all(run));
    expect(shown).toEqual(['Answer a.', 'Answer b.']);
    expect(runs).toEqual([first, second]);
  });

  it.each(recordings())(
    '$name: with “settled”, too, are those of splitRuns (csdk §12.2)',
    async ({ lines }) => {
      const recorded = lines.map((line) => JSON.parse(line) as CsdkFrame); // as above
      const runs = [];
      for await (const run of liveRuns(recorded, { end: 'settled' })) runs.push(await all(run));
      expect(runs).toEqual(splitRuns(recorded, { end: 'settled' }));
    },
  );

  it('with “settled” and a task that never ends are one, up to the last frame (csdk §12.2)', async () => {
    const recorded: CsdkFrame[] = [init(), task, ...asked('a'), ...asked('b')];
    expect(splitRuns(recorded, { end: 'settled' })).toEqual([recorded]);
    const runs = [];
    for await (const run of liveRuns(recorded, { end: 'settled' })) runs.push(await all(run));
    expect(runs).toEqual([recorded]);
  });
});

describe('a live query (csdk §12.3)', () => {
  const turn = (id: string) => [init(), text(id, `Answer ${id}.`), result()];

  it('is asked for a frame only if the reader of a run wants one', async () => {
    const query = new LiveQuery();
    query.give(...turn('a'), ...turn('b'));
    const runs = liveRuns(query);
    expect(query.asked).toBe(0);
    const first = await runs.next();
    expect(query.asked).toBe(1); // its init: a run has begun
    for (let asked = 1; asked <= 3; asked++) {
      await first.value.next();
      expect(query.asked).toBe(asked);
    }
    expect(await first.value.next()).toEqual({ done: true, value: undefined });
    expect(query.asked).toBe(3); // the next run is nobody's yet
    await runs.return(undefined);
    expect(query.closed).toBe(1);
  });

  it('gives a run as soon as its turn begins, and waits for the next prompt between runs', async () => {
    const query = new LiveQuery();
    const runs = liveRuns(query);
    query.give(...turn('a'));
    const first = await runs.next();
    expect(wholeTexts(await all(normalizeSession(first.value)))).toEqual(['Answer a.']);
    expect(query.closed).toBe(0);
    let isThere = false;
    const second = runs.next().then((next) => {
      isThere = true;
      return next;
    });
    query.give(system('notification', { text: 'idle' }));
    await query.drained();
    expect(isThere).toBe(false);
    query.give(init());
    const { value: run } = await second;
    query.give(text('b', 'Answer b.'), result());
    expect(wholeTexts(await all(normalizeSession(run)))).toEqual(['Answer b.']);
    query.end();
    expect((await runs.next()).done).toBe(true);
  });

  it.each(['while a frame is there', 'while a frame is awaited'])(
    'stays open if the reader of a run leaves early %s; the rest of that run is dropped',
    async (when) => {
      const query = new LiveQuery();
      query.give(init(), text('a', 'Answer a.'));
      const runs = liveRuns(query);
      const { value: run } = await runs.next();
      const events = normalizeSession(run);
      await events.next();
      if (when === 'while a frame is awaited') {
        const last = (async () => {
          for await (const _ of events);
        })();
        await query.waited();
        await events.return(undefined);
        await last;
      } else await events.return(undefined);
      expect(query.closed).toBe(0);
      const next = runs.next();
      query.give(text('a2', 'dropped'), result(), ...turn('b'));
      const second = (await next).value;
      expect(wholeTexts(await all(normalizeSession(second)))).toEqual(['Answer b.']);
      expect(query.closed).toBe(0);
    },
  );

  it('gives each frame once to a reader that asks for several at the same time', async () => {
    const query = new LiveQuery();
    query.give(init());
    const runs = liveRuns(query);
    const { value: run } = await runs.next();
    await run.next();
    const asked = [run.next(), run.next(), run.next()];
    await query.waited();
    query.give(text('a', 'Answer a.'), result(), ...turn('b'));
    const got = await Promise.all(asked);
    expect(got.map(({ done, value }) => (done ? 'over' : value.type))).toEqual([
      'assistant',
      'result',
      'over',
    ]);
    const second = (await runs.next()).value;
    expect(wholeTexts(await all(normalizeSession(second)))).toEqual(['Answer b.']);
  });

  it.each([0, 1, 2, 3, 8])(
    'loses no run if the next one is asked for while reads of this one are under way, %i microtasks before a frame comes',
    async (turns) => {
      const query = new LiveQuery();
      query.give(init());
      let over = 0;
      const runs = watchedRuns(query, {}, () => over++);
      const { value: run } = await runs.next();
      await run.next();
      const reads = [run.next(), run.next(), run.next()];
      await query.waited();
      if (turns === 0) query.give(result(), ...turn('b'), ...turn('c'));
      const second = runs.next();
      for (let at = 0; at < turns; at++) await Promise.resolve();
      if (turns > 0) query.give(result(), ...turn('b'), ...turn('c'));
      expect(wholeTexts(await all(normalizeSession((await second).value)))).toEqual(['Answer b.']);
      const third = (await runs.next()).value;
      expect(wholeTexts(await all(normalizeSession(third)))).toEqual(['Answer c.']);
      expect(over).toBe(3);
      const read = (await Promise.all(reads)).filter(({ done }) => done !== true);
      expect(read.length).toBeLessThan(2);
    },
  );

  it('is closed by a reader that leaves a run if that was asked for', async () => {
    const query = new LiveQuery();
    query.give(...turn('a'), ...turn('b'));
    let count = 0;
    for await (const run of liveRuns(query, { leave: 'close' })) {
      count++;
      for await (const _ of run) break;
    }
    expect([count, query.closed]).toEqual([1, 1]);
  });

  it.each(['in a run', 'between runs'])(
    'is closed by its signal %s, also while it waits',
    async (where) => {
      const query = new LiveQuery();
      const stop = new AbortController();
      const { signal } = stop;
      query.give(init(), text('a', 'Answer a.'), ...(where === 'in a run' ? [] : [result()]));
      const ends: unknown[] = [];
      const read = (async () => {
        for await (const run of liveRuns(query, { signal }))
          ends.push((await all(normalizeSession(run, { signal }))).at(-1));
      })();
      await query.waited();
      stop.abort();
      await read;
      expect(query.closed).toBe(1);
      const aborted =
        where === 'in a run' ? [{ type: 'agent_end', aborted: true }] : [{ type: 'agent_end' }];
      expect(ends).toMatchObject(aborted);
    },
  );

  it('is closed by who stops reading its runs, also while one is awaited', async () => {
    const query = new LiveQuery();
    const runs = liveRuns(query);
    const next = runs.next();
    await query.waited();
    await runs.return(undefined);
    expect((await next).done).toBe(true);
    expect(query.closed).toBe(1);
  });

  it('that throws tells the run, or, between two, the reader of the runs', async () => {
    const inside = new LiveQuery();
    inside.give(init(), text('a', 'Answer a.'));
    inside.fail(new Error('the process died'));
    const ends = [];
    for await (const run of liveRuns(inside)) ends.push((await all(normalizeSession(run))).at(-1));
    expect(ends).toMatchObject(
      [{ error: { subtype: 'threw', message: /the process died/ } }].map(({ error }) => ({
        error: { ...error, message: expect.stringMatching(error.message) },
      })),
    );
    const between = new LiveQuery();
    between.give(...turn('a'));
    between.fail(new Error('the process died'));
    await expect(
      (async () => {
        for await (const run of liveRuns(between)) await all(run);
      })(),
    ).rejects.toThrow('the process died');
  });

  it('that throws after a failed result says nothing new (csdk §6.5)', async () => {
    const query = new LiveQuery();
    query.give(init(), text('a', 'a'), result({ subtype: 'error_max_turns', is_error: true }));
    query.fail(new Error('error_max_turns'));
    let count = 0;
    for await (const run of liveRuns(query)) count += (await all(run)).length > 0 ? 1 : 0;
    expect(count).toBe(1);
  });

  it('keeps the tools of each run in it', async () => {
    const query = new LiveQuery();
    query.give(init(), call('t', 'Bash'), answer('t', 'ok'), result(), ...turn('b'));
    query.end();
    const types = [];
    for await (const run of liveRuns(query))
      types.push((await all(normalizeSession(run))).filter(({ type }) => type.startsWith('tool_')));
    expect(types.map((list) => list.length)).toEqual([2, 0]);
  });
});
