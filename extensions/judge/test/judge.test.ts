import { getEventListeners } from 'node:events';
import { allow, ask, cancel, createKernel, type Kernel } from 'sluice-kernel';
import { describe, expect, it, vi } from 'vitest';
import { type JudgeOptions, ToolJudge } from '../src/index.js';

const given = () => ({});
const call = { toolName: 'shell', params: { command: 'ls' }, context: undefined };

/** A kernel that hides secrets in results, by an open mutator. */
function hiding(): Kernel {
  const kernel = createKernel();
  kernel.contribute({
    ...{ family: 'agent.tool.returning', class: 'mutator', extensionId: 'acme', id: 'hide' },
    handler: ({ payload: { result } }) => ({
      result: JSON.parse(JSON.stringify(result).replaceAll('sk-SECRET', '[hidden]')),
    }),
  });
  return kernel;
}

/** A kernel whose one veto is closed. */
function guarded(handler: () => unknown): Kernel {
  const kernel = createKernel();
  kernel.contribute({
    ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'acme', id: 'guard' },
    failClosed: true,
    handler: handler as never, // a test hands over what it likes
  });
  return kernel;
}

describe('the options of a judge', () => {
  it.each([
    [undefined, /"given" must be a function/],
    [{}, /"given" must be a function/],
    [{ given: {} }, /"given" must be a function/],
    [{ given, onAsk: true }, /"onAsk" must be a function/],
    [{ given, signal: {} }, /"signal" must be an AbortSignal/],
    [{ given, unjudged: 'shell' }, /"unjudged" must be a list of names/],
    [{ given, onask: given }, /there is no option "onask"/],
  ])('%j are refused by name', (options, why) => {
    expect(() => new ToolJudge(createKernel(), options as JudgeOptions)).toThrow(why);
  });

  it('are refused without a kernel', () => {
    expect(() => new ToolJudge({} as Kernel, { given })).toThrow(/"kernel" must be a kernel/);
  });
});

/** The arguments that the kernel itself leaves. */
const outcomeOf = async (kernel: Kernel, params: Record<string, unknown>) =>
  (await kernel.dispatch('agent.tool.calling', { toolName: 'shell', params: { ...params } }))
    .payload;

describe('a call', () => {
  it('hands its own arguments to the tool if no handler sets one', async () => {
    const params = { command: 'ls', at: new Date(0) };
    const ran: unknown[] = [];
    const judge = new ToolJudge(createKernel(), { given });
    await judge.call({ ...call, params }, { run: (one) => void ran.push(one) });
    expect(ran).toEqual([params]);
  });

  it('has the arguments that the kernel leaves, also one that a handler sets to null', async () => {
    const kernel = createKernel();
    kernel.contribute({
      ...{ extensionId: 'acme', family: 'agent.tool.calling', class: 'mutator', id: 'force' },
      handler: () => ({ params: { force: null } }),
    });
    const ran: unknown[] = [];
    const params = { command: 'ls', force: true };
    const judge = new ToolJudge(kernel, { given });
    await judge.call({ ...call, params }, { run: (one) => void ran.push(one) });
    expect(ran).toEqual([(await outcomeOf(kernel, params)).params]);
  });

  it('is refused if its arguments are changed while it is judged', async () => {
    const params = { command: 'ls' };
    const kernel = guarded(() => {
      params.command = 'rm -rf /';
      return allow();
    });
    const run = () => expect.unreachable();
    expect(await new ToolJudge(kernel, { given }).call({ ...call, params }, { run })).toEqual({
      isError: true,
      isFailure: false,
      text: 'its arguments were changed meanwhile',
    });
  });

  it('is refused if its arguments are no data', async () => {
    const cycle: { self?: object } = {};
    cycle.self = cycle;
    const judge = new ToolJudge(createKernel(), { given });
    expect(await judge.calling({ ...call, params: cycle })).toMatchObject({ allowed: false });
    expect(await judge.calling({ ...call, params: 'ls' })).toMatchObject({ allowed: false });
  });

  it('is refused by the code of a veto that has no text', async () => {
    const judge = new ToolJudge(
      guarded(() => cancel('policy')),
      { given },
    );
    expect(await judge.calling(call)).toEqual({ allowed: false, reason: 'policy' });
  });

  it('is refused after the kernel has closed', async () => {
    const kernel = createKernel();
    await kernel.close();
    const judge = new ToolJudge(kernel, { given });
    expect(await judge.calling(call)).toMatchObject({
      reason: expect.stringContaining('could not be judged'),
    });
  });

  it('is refused when its signal has aborted before', async () => {
    const judge = new ToolJudge(guarded(allow), { given });
    const verdict = await judge.calling({ ...call, signal: AbortSignal.abort() });
    expect(verdict).toMatchObject({ allowed: false });
  });

  it('lets an error of the framework that suspends the run pass through, from a question and from a tool', async () => {
    const suspension = new Error('interrupt');
    const suspends = (error: unknown) => error === suspension;
    const fails = () => {
      throw suspension;
    };
    const asking = new ToolJudge(
      guarded(() => ask({ title: 'Run it?' })),
      { given, onAsk: fails },
      { suspends },
    );
    await expect(asking.calling(call)).rejects.toBe(suspension);
    const running = new ToolJudge(createKernel(), { given }, { suspends });
    await expect(running.call(call, { run: fails })).rejects.toBe(suspension);
  });
});

describe('the signals of a judge and of a call', () => {
  const asks = () => guarded(() => ask({ title: 'Run it?' }));

  it.each(['judge', 'call', 'both'])(
    'keep no trace of a call that is over: of the %s',
    async (whose) => {
      const signals = { judge: new AbortController().signal, call: new AbortController().signal };
      const any = vi.spyOn(AbortSignal, 'any'); // on Node 20 a signal never forgets those that it makes
      const judge = new ToolJudge(asks(), {
        ...{ given, onAsk: () => true },
        ...(whose !== 'call' && { signal: signals.judge }),
      });
      const own = whose === 'judge' ? {} : { signal: signals.call };
      const answer = await judge.call({ ...call, ...own }, { run: () => 'done' });
      const made = any.mock.calls.length;
      any.mockRestore();
      expect(answer).toMatchObject({ output: 'done' });
      expect(made).toBe(0);
      for (const signal of Object.values(signals))
        expect(getEventListeners(signal, 'abort')).toEqual([]);
    },
  );

  it.each(['judge', 'call'] as const)(
    'stop a question, each of them: that of the %s',
    async (whose) => {
      const stops = { judge: new AbortController(), call: new AbortController() };
      const onAsk = () => {
        stops[whose].abort();
        return true;
      };
      const judge = new ToolJudge(asks(), { given, onAsk, signal: stops.judge.signal });
      const verdict = await judge.calling({ ...call, signal: stops.call.signal });
      expect(verdict).toEqual({
        allowed: false,
        reason: 'nobody waits for the answer of a human any more',
      });
    },
  );
});

describe('a tool', () => {
  it('does not run if its changed arguments cannot be judged', async () => {
    const kernel = createKernel();
    kernel.contribute({
      ...{ extensionId: 'acme', family: 'agent.tool.calling', class: 'mutator', id: 'x' },
      handler: () => ({ params: { command: 'x' } }),
    });
    const unfit = () => Promise.reject(new Error('no schema'));
    const run = () => expect.unreachable();
    const answer = await new ToolJudge(kernel, { given }).call(call, { run, unfit });
    expect(answer).toMatchObject({ text: 'the tool did not run: no schema' });
  });

  it('has failed if its answer cannot be read', async () => {
    const output = Object.create(null);
    output.self = output;
    const answer = await new ToolJudge(hiding(), { given }).call(call, { run: () => output });
    expect(answer).toMatchObject({ isFailure: true, text: expect.stringContaining('TypeError') });
  });
});

describe('a result (§16.31)', () => {
  it('is withheld if the run is aborted before every handler has judged it', async () => {
    const stop = new AbortController();
    const judge = new ToolJudge(hiding(), { given, signal: stop.signal });
    const run = () => {
      stop.abort();
      return 'sk-SECRET';
    };
    expect(JSON.stringify(await judge.call(call, { run }))).not.toContain('sk-SECRET');
  });

  it('that no handler changes is the tool’s own value', async () => {
    const output = { at: new Date(0) };
    const judge = new ToolJudge(hiding(), { given });
    const answer = await judge.call(call, { run: () => output });
    expect(answer).toMatchObject({ isError: false });
    expect(Object(answer).output).toBe(output);
  });

  it('is a text if a changed one is no data any more', async () => {
    const kernel = createKernel();
    kernel.contribute({
      ...{ family: 'agent.tool.returning', class: 'mutator', extensionId: 'acme', id: 'word' },
      handler: ({ payload: { result } }) => ({
        result: { ...result, content: [{ type: 'text', text: 'none of your business' }] },
      }),
    });
    const answer = await new ToolJudge(kernel, { given }).call(call, { run: () => ({ a: 1 }) });
    expect(answer).toEqual({ isError: false, output: 'none of your business' });
  });

  it('of a failure is the error itself if no handler judges results', async () => {
    const error = new Error('boom');
    const fails = () => {
      throw error;
    };
    const text = 'the tool failed: boom';
    const unheard = await new ToolJudge(createKernel(), { given }).call(call, { run: fails });
    expect(unheard).toEqual({ isError: true, isFailure: true, text, error });
    expect(await new ToolJudge(hiding(), { given }).call(call, { run: fails })).toEqual({
      isError: true,
      isFailure: true,
      text,
    });
  });

  it('follows the call in the pipeline: its annotations and its correlation go on', async () => {
    const kernel = createKernel();
    const ids: unknown[] = [];
    kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'augmenter', extensionId: 'acme', id: 'mark' },
      handler: ({ event }) => {
        ids.push(event.correlationId);
        return { labels: ['seen'] };
      },
    });
    kernel.contribute({
      ...{ family: 'agent.tool.returning', class: 'observer', extensionId: 'acme', id: 'sees' },
      handler: ({ event, annotations }) => void ids.push(event.correlationId, annotations.labels),
    });
    await new ToolJudge(kernel, { given }).call(call, { run: () => 'x' });
    expect(ids).toEqual([ids[0], ids[0], ['seen']]);
  });
});
