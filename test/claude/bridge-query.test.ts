import { describe, expect, it } from 'vitest';
import { isRunDriven } from '../../src/agent/run/index.js';
import { bridgeQuery, type CsdkFrame, checkOrdering } from '../../src/claude/index.js';
import { cancel } from '../../src/kernel/internal.js';
import type { SessionEvent } from '../../src/sdk/stream/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { bridgedSession, frames } from '../support/bridge-lab.js';
import { LiveQuery } from '../support/live-query.js';
import { recordings } from '../support/recordings.js';

const { init, text, call, answer, result } = frames;
const never = new AbortController().signal;
const turn = (id: string) => [init(), text(id, `Answer ${id}.`), result()];

function lab(options: Partial<Parameters<typeof bridgeQuery>[1]> = {}) {
  const test = createTestKernel();
  const bridge = bridgeQuery(test.kernel, {
    session: { ...bridgedSession, history: [], append: () => undefined },
    run: (number) => ({ runId: `r-${number}`, prompt: `Prompt ${number}` }),
    ...options,
  });
  const pre = (id: string, name: string) =>
    bridge.hooks.PreToolUse[0]?.hooks[0]?.(
      { hook_event_name: 'PreToolUse', tool_name: name, tool_input: {}, tool_use_id: id },
      id,
      { signal: never },
    );
  /** The dispatches, but for deltas: of which run. */
  const story = (...families: readonly string[]) =>
    test.outcomes
      .filter(({ event }) => families.includes(event.family))
      .map(({ event }) => `${event.metadata['runId']} ${event.family}`);
  return { ...test, bridge, pre, story };
}

async function read(runs: AsyncIterable<AsyncIterable<SessionEvent>>): Promise<SessionEvent[][]> {
  const all: SessionEvent[][] = [];
  for await (const run of runs) {
    const events: SessionEvent[] = [];
    all.push(events);
    for await (const event of run) events.push(event);
    expect(checkOrdering(events)).toEqual([]);
  }
  return all;
}

describe('a bridged query of several runs (§18.10, field trial IV.6)', () => {
  it('has each run start, ask its own prompt, and end, once', async () => {
    const { bridge, story, outcomes } = lab();
    const query = new LiveQuery();
    query.give(...turn('a'), ...turn('b'));
    query.end();
    expect(await read(bridge.runs(query))).toHaveLength(2);
    expect(story('agent.starting', 'agent.completed', 'agent.llm.output')).toEqual([
      'r-1 agent.starting',
      'r-1 agent.completed',
      'r-1 agent.llm.output',
      'r-2 agent.starting',
      'r-2 agent.completed',
      'r-2 agent.llm.output',
    ]);
    const asked = outcomes.filter(({ event }) => event.family === 'agent.starting');
    expect(asked.map(({ payload }) => Object(payload).prompt)).toEqual(['Prompt 1', 'Prompt 2']);
  });

  it('has the principal of each run, and none in a run that is given none (judgement §1.10)', async () => {
    const ada = { channel: 'web', accountId: 'a', senderId: 'ada', isOwner: false, roles: [] };
    const { bridge, pre, outcomes } = lab({
      run: (number) => ({
        runId: `r-${number}`,
        prompt: 'Go.',
        ...(number === 1 && { refs: { principal: ada } }),
      }),
    });
    const query = new LiveQuery();
    await pre('a', 'Bash');
    query.give(init(), call('a', 'Bash'), answer('a', 'done'), result());
    const runs = bridge.runs(query);
    const readNext = async (): Promise<void> => {
      const { value: run } = await runs.next();
      for await (const _ of run ?? []) void _;
    };
    await readNext();
    await pre('b', 'Bash');
    query.give(init(), call('b', 'Bash'), answer('b', 'done'), result());
    query.end();
    await readNext();
    const seen = outcomes
      .filter(({ event }) => event.family === 'agent.tool.calling')
      .map(({ event, principal }) => [event.metadata['runId'], principal]);
    expect(seen).toEqual([
      ['r-1', ada],
      ['r-2', undefined],
    ]);
  });

  it.each(['two-turns.jsonl', 'queued-prompts.jsonl', 'compaction-manual.jsonl'])(
    'of %s has all its runs, and none fails',
    async (name) => {
      const { lines = [] } = recordings().find((one) => one.name === name) ?? {};
      const { bridge, outcomes } = lab();
      const recorded = lines.map((line) => JSON.parse(line) as CsdkFrame); // recordings hold one a line
      const runs = await read(bridge.runs(recorded));
      expect(runs.length).toBeGreaterThan(1);
      const ended = outcomes.filter(({ event }) => event.family === 'agent.completed');
      expect(ended.map(({ payload }) => Object(payload).success)).toEqual(runs.map(() => true));
      expect(outcomes.flatMap(({ failures }) => failures)).toEqual([]);
    },
  );

  it('asks about a tool in the run that calls it, also before that run’s first frame was read', async () => {
    const { bridge, kernel, pre, story } = lab();
    kernel.contribute({
      extensionId: 'test',
      id: 'no-rm',
      class: 'veto',
      family: 'agent.tool.calling',
      handler: ({ payload }) => (payload.toolName === 'rm' ? cancel('policy') : undefined),
    });
    const query = new LiveQuery();
    query.give(init(), call('t1', 'Bash'));
    const runs = bridge.runs(query);
    const { value: first } = await runs.next();
    await first.next();
    expect(await pre('t1', 'Bash')).toEqual({});
    query.give(answer('t1', 'ok'), result());
    for await (const event of first) if (event.type === 'agent_end') break;
    expect(JSON.stringify(await pre('t2', 'rm'))).toMatch(/deny/); // the SDK is ahead of its frames
    query.give(init(), call('t2', 'rm'), answer('t2', 'no', {}, true), result());
    query.end();
    await read(runs);
    expect(story('agent.tool.calling', 'agent.tool.called')).toEqual([
      'r-1 agent.tool.calling',
      'r-1 agent.tool.called',
      'r-2 agent.tool.calling',
      'r-2 agent.tool.called',
    ]);
  });

  it('goes on after a run that its reader leaves: that one alone is told as aborted', async () => {
    const { bridge, outcomes } = lab();
    const query = new LiveQuery();
    query.give(...turn('a'), ...turn('b'));
    query.end();
    let count = 0;
    for await (const run of bridge.runs(query))
      for await (const event of run) if (++count === 1 && event.type === 'agent_start') break;
    const ended = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(ended).toMatchObject([
      { payload: { runId: 'r-1', aborted: true } },
      { payload: { runId: 'r-2', success: true } },
    ]);
    expect(query.closed).toBe(0);
  });

  it('leaves nothing driven if it is left, or if a run that its gate began never comes', async () => {
    const { bridge, kernel, pre, story } = lab();
    const query = new LiveQuery();
    query.give(...turn('a'));
    const runs = bridge.runs(query);
    const { value: first } = await runs.next();
    for await (const _ of first);
    await pre('t', 'Bash');
    expect(isRunDriven(kernel, 'r-2')).toBe(true);
    const next = runs.next();
    await query.waited();
    await runs.return(undefined);
    expect((await next).done).toBe(true);
    expect(query.closed).toBe(1);
    expect(isRunDriven(kernel, 'r-2')).toBe(false);
    expect(story('agent.completed')).toEqual(['r-1 agent.completed', 'r-2 agent.completed']);
  });

  it('is stopped by its signal, also while a frame is awaited', async () => {
    const stop = new AbortController();
    const { bridge, outcomes } = lab({ signal: stop.signal });
    const query = new LiveQuery();
    query.give(...turn('a'), init(), text('b', 'Answer'));
    const reading = read(bridge.runs(query));
    await query.waited();
    stop.abort();
    expect((await reading).at(-1)?.at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
    expect(query.closed).toBe(1);
    const ended = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(ended).toMatchObject([{ payload: { success: true } }, { payload: { aborted: true } }]);
  });

  it('with “settled” bridges what a background subagent brings in its run (csdk §12.2)', async () => {
    const { lines = [] } = recordings().find(({ name }) => name === 'nested-subagents.jsonl') ?? {};
    const { bridge, outcomes } = lab({ end: 'settled' });
    await read(bridge.runs(lines.map((line) => JSON.parse(line) as CsdkFrame)));
    const ids = (family: string) =>
      outcomes
        .filter(({ event }) => event.family === family)
        .map(({ payload }) => Object(payload).toolCallId);
    // no callback announced them: each is told when it has ended (§18.5)
    expect(ids('agent.tool.calling')).toEqual(['toolu_l2', 'toolu_t2', 'toolu_t1']);
    expect(ids('agent.tool.called')).toEqual(['toolu_l2', 'toolu_t2', 'toolu_t1']);
  });
});
