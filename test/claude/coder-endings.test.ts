import { describe, expect, it } from 'vitest';
import type { CoderStreamEvent } from '../../src/claude/coder/blocks/coder-event.js';
import { coderStream } from '../../src/claude/coder/coder-stream.js';
import { type CsdkCallback, callbackQueue } from '../../src/claude/frames/callback.js';
import type { CsdkFrame } from '../../src/claude/frames/frame.js';
import { scriptFrames } from '../support/csdk-script.js';
import {
  assistant,
  call,
  eventsOf,
  failed,
  frame,
  init,
  result,
  text,
  told,
} from './coder-frames.js';

/** Frames that come one by one, then whatever `last` does. */
async function* source(
  frames: readonly CsdkFrame[],
  last: () => Promise<void> | void = () => undefined,
): AsyncGenerator<CsdkFrame> {
  yield* frames;
  await last();
}

const fails = (error: unknown) => (): never => {
  throw error;
};
/** The event loop turns once: what was pushed has arrived. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = (): Promise<void> => new Promise(() => undefined);

/** The SDK's own: a class whose instances go by the name "Error". */
class AbortError extends Error {}

const bash = assistant('m1', [call('t1', 'Bash', { command: 'ls' })]);
const request: CsdkCallback = {
  kind: 'permission_request',
  toolUseId: 't1',
  toolName: 'Bash',
  input: { command: 'ls' },
  requestId: 'r1',
};
const decided = (decision: 'granted' | 'denied' | 'auto'): CsdkCallback => ({
  kind: 'permission_decision',
  toolUseId: 't1',
  toolName: 'Bash',
  decision,
});

describe('an interrupted run (C13)', () => {
  const half = scriptFrames('init ms(m1) bs0:text d0"par"');
  const interrupted = 'init | +par | =par | cancelled | error interrupted';

  it('that the SDK reports as a failure is cancelled', async () => {
    const ended = failed({
      errors: ['[ede_diagnostic] x'],
      terminal_reason: 'aborted_streaming',
      usage: {},
    });
    const events = await eventsOf([...half, ended]);
    expect(told(events)).toBe('init | +par | =par | usage | cancelled | error interrupted');
    expect(events.at(-1)).toMatchObject({
      message: 'The Claude run was interrupted: aborted_streaming',
      originalItem: ended,
    });
  });

  it('that was stopped before it began is cancelled, its source closed and never read', async () => {
    const steps: string[] = [];
    const messages: AsyncIterable<CsdkFrame> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('it was read')),
        return: () => {
          steps.push('closed');
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    const events = await eventsOf(messages, { signal: AbortSignal.abort('stop') });
    expect(told(events)).toBe('cancelled | error interrupted');
    expect(events.map(({ originalItem }) => originalItem)).toEqual([
      { reason: 'stop' },
      { reason: 'stop' },
    ]);
    expect(steps).toEqual(['closed']);
  });

  it('that waits for a frame that never comes is cancelled all the same', async () => {
    const stop = new AbortController();
    const events: CoderStreamEvent[] = [];
    const aborting = source(half, () => {
      queueMicrotask(() => stop.abort());
      return never();
    });
    for await (const event of coderStream(aborting, { signal: stop.signal })) events.push(event);
    expect(told(events)).toBe(interrupted);
  });

  it('whose stream just ends after the abort is cancelled', async () => {
    const stop = new AbortController();
    const events = await eventsOf(
      source(half, () => stop.abort()),
      { signal: stop.signal },
    );
    expect(told(events)).toBe(interrupted);
  });

  it('whose stream throws an AbortError by the name of "Error" is known by the signal', async () => {
    const stop = new AbortController();
    const aborting = source(half, () => {
      stop.abort();
      throw new AbortError('aborted by the user');
    });
    expect(told(await eventsOf(aborting, { signal: stop.signal }))).toBe(interrupted);
  });

  it.each([
    ['by its name', Object.assign(new Error('x'), { name: 'AbortError' })],
    ['by the code of the platform', new DOMException('x', 'AbortError')],
    ['by its code', Object.assign(new Error('x'), { code: 'interrupted' })],
  ])('whose stream throws, without a signal, is known %s', async (_how, error) => {
    const events = await eventsOf(source(half, fails(error)));
    expect(told(events)).toBe(interrupted);
    expect(events.at(-1)?.originalItem).toEqual({ reason: error });
  });

  it('is not one when it was over: an abort between the result and the end of the stream', async () => {
    const stop = new AbortController();
    const events = await eventsOf(
      source(scriptFrames('init R(ok)'), () => stop.abort()),
      { signal: stop.signal },
    );
    expect(told(events)).toBe('init | done');
  });

  it('is one when a queued turn was to follow', async () => {
    const stop = new AbortController();
    const events = await eventsOf(
      source(scriptFrames('init R(ok,queued=1)'), () => stop.abort()),
      { signal: stop.signal },
    );
    expect(told(events)).toBe('init | cancelled | error interrupted');
  });

  it('is one when another turn had begun', async () => {
    const stop = new AbortController();
    const events = await eventsOf(
      source(scriptFrames('init R(ok) A(m2)[text"b"]'), () => stop.abort()),
      { signal: stop.signal },
    );
    expect(told(events)).toBe('init | +b | =b | cancelled | error interrupted');
  });

  it('stays whatever it was when it is aborted after its end', async () => {
    const stop = new AbortController();
    const events = await eventsOf('init R(ok)', { signal: stop.signal });
    stop.abort();
    expect(told(events)).toBe('init | done');
  });

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = Object.assign(Object.create(signal) as AbortSignal, {
      addEventListener: () => listeners++,
      removeEventListener: () => listeners--,
    });
    Object.defineProperty(counted, 'aborted', { value: false });
    await eventsOf('init R(ok)', { signal: counted });
    expect(listeners).toBe(0);
  });
});

describe('a stream that throws (C13)', () => {
  it('after a failed result says nothing new', async () => {
    const frames = scriptFrames('R(err){"errors":["no more turns"],"subtype":"error_max_turns"}');
    expect(told(await eventsOf(source(frames, fails(new Error('exit code 1')))))).toBe(
      'init | error error_max_turns',
    );
  });

  it('after a result that was fine: the answer stands, and the failure is told', async () => {
    expect(
      told(await eventsOf(source(scriptFrames('R(ok)'), fails(new Error('exit code 1'))))),
    ).toBe('init | … threw: exit code 1 | done');
  });

  it('before any result ends the run with an error, and throws nothing', async () => {
    const error = new Error('spawn failed');
    const events = await eventsOf(source(scriptFrames('init'), fails(error)));
    expect(told(events)).toBe('init | error threw');
    expect(events.at(-1)).toMatchObject({ message: 'spawn failed', originalItem: error });
  });

  it('in the turn after a result ends the run with an error', async () => {
    const frames = scriptFrames('R(ok) A(m2)[text"b"]');
    expect(told(await eventsOf(source(frames, fails('lost'))))).toBe(
      'init | +b | =b | error threw',
    );
  });

  it('out of an iterator that is not async does the same', async () => {
    function* frames(): Generator<CsdkFrame> {
      yield init;
      throw new Error('broken');
    }
    expect(told(await eventsOf(frames()))).toBe('init | error threw');
  });
});

describe('a reader that leaves early (C17)', () => {
  it('closes the source', async () => {
    let isClosed = false;
    async function* frames(): AsyncGenerator<CsdkFrame> {
      try {
        for (;;) yield assistant('m1', [text('a')]);
      } finally {
        isClosed = true;
      }
    }
    for await (const _ of coderStream(frames())) break;
    expect(isClosed).toBe(true);
  });

  it('closes it also where it never began to read', async () => {
    let isClosed = false;
    const messages: AsyncIterable<CsdkFrame> = {
      [Symbol.asyncIterator]: () => ({
        next: never as never,
        return: () => {
          isClosed = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    await coderStream(messages).return(undefined);
    expect(isClosed).toBe(true);
  });

  it('need not wait for the next frame', async () => {
    const events = coderStream(source(scriptFrames('init'), never));
    expect((await events.next()).value).toMatchObject({ type: 'init' });
    const waiting = events.next();
    expect(await events.return(undefined)).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it('may be one that disposes of it', async () => {
    let isClosed = false;
    async function* frames(): AsyncGenerator<CsdkFrame> {
      try {
        for (;;) yield init;
      } finally {
        isClosed = true;
      }
    }
    {
      await using events = coderStream(frames());
      await events.next();
    }
    expect(isClosed).toBe(true);
  });

  it('hears nothing of a source that cannot close', async () => {
    const messages: AsyncIterable<CsdkFrame> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: init }),
        return: () => Promise.reject(new Error('will not')),
      }),
    };
    const events = coderStream(messages);
    await events.next();
    await expect(events.return(undefined)).resolves.toMatchObject({ done: true });
  });
});

describe('permissions (C9)', () => {
  /** A run whose host is asked, and answers, between two frames. */
  async function asked(
    before: readonly CsdkFrame[],
    callbacks: readonly CsdkCallback[],
    after: readonly CsdkFrame[],
  ): Promise<CoderStreamEvent[]> {
    const queue = callbackQueue();
    async function* frames(): AsyncGenerator<CsdkFrame> {
      yield* before;
      for (const one of callbacks) queue.push(one);
      await turn();
      yield* after;
    }
    return eventsOf(frames(), { callbacks: queue });
  }

  it('tell the request, then the decision, before what comes of it', async () => {
    const events = await asked(
      scriptFrames('A(m1)[tu t1 Bash {"command":"ls"}]'),
      [request, decided('granted')],
      scriptFrames('U[tr t1 ok "x"]'),
    );
    expect(told(events)).toBe(
      'init | call Bash(t1) | ask Bash | granted Bash | answer Bash(t1) | done',
    );
    const permissions = events.filter(({ type }) => type === 'permission');
    const about = {
      request: {
        toolUseId: 't1',
        toolName: 'Bash',
        input: { command: 'ls' },
        requestId: 'r1',
      },
    };
    expect(permissions).toEqual([
      expect.objectContaining({ ...about, originalItem: request }),
      expect.objectContaining({ ...about, decision: 'granted', originalItem: decided('granted') }),
    ]);
  });

  it('call the tool first, where its frame has not come yet', async () => {
    const events = await asked(
      scriptFrames('init'),
      [request],
      scriptFrames('A(m1)[tu t1 Bash {"command":"ls"}] U[tr t1 ok "x"]'),
    );
    expect(told(events)).toBe('init | call Bash(t1) | ask Bash | answer Bash(t1) | done');
    expect(events[1]).toMatchObject({ args: { command: 'ls' }, originalItem: request });
  });

  it("of a subagent's tool do not call it in the main thread", async () => {
    const events = await asked(scriptFrames('init'), [{ ...request, agentId: 'a1' }], []);
    expect(told(events)).toBe('init | ask Bash | done');
    expect(events[1]).toMatchObject({ request: { agentId: 'a1' } });
  });

  it('are told once, however often the SDK asks', async () => {
    const callbacks = [request, request, decided('denied'), decided('denied')];
    const events = await asked(
      scriptFrames('A(m1)[tu t1 Bash {"command":"ls"}]'),
      callbacks,
      scriptFrames(
        '«system/permission_denied»{"tool_name":"Bash","tool_use_id":"t1"} R(ok){"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{}}]}',
      ),
    );
    expect(told(events)).toBe('init | call Bash(t1) | ask Bash | denied Bash | done');
  });

  it('that a rule denies are told, request and decision, by the frame or by the result', async () => {
    const frames = scriptFrames(
      'A(m1)[tu t1 Bash {"command":"ls"}] «system/permission_denied»{"tool_name":"Bash","tool_use_id":"t1","message":"no"} R(ok){"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{}},{"tool_name":"Write","tool_use_id":"t2","tool_input":{"file_path":"/a"}}]}',
    );
    const events = await eventsOf(frames);
    expect(told(events)).toBe(
      'init | call Bash(t1) | ask Bash | denied Bash | ask Write | denied Write | done',
    );
    expect(events[5]).toMatchObject({ request: { input: { file_path: '/a' } } });
  });

  it('that are decided unasked have their request told with them', async () => {
    expect(
      told(await asked(scriptFrames('A(m1)[tu t1 Bash {"command":"ls"}]'), [decided('auto')], [])),
    ).toBe('init | call Bash(t1) | ask Bash | auto Bash | done');
  });

  it('come while a frame is waited for', async () => {
    const queue = callbackQueue();
    let goOn = (): void => undefined;
    const paused = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* frames(): AsyncGenerator<CsdkFrame> {
      yield bash;
      await paused;
      yield result();
    }
    const events: string[] = [];
    for await (const event of coderStream(frames(), { callbacks: queue })) {
      events.push(told([event]));
      if (event.type === 'tool_use') queue.push(request);
      if (event.type === 'permission') goOn();
    }
    expect(events).toEqual(['init', 'call Bash(t1)', 'ask Bash', 'done']);
  });

  it('do not block the end: nobody closes the queue', async () => {
    expect(told(await eventsOf('init R(ok)', { callbacks: callbackQueue() }))).toBe('init | done');
  });

  it('that were told before the end of the frames come before the end of the run', async () => {
    expect(told(await asked(scriptFrames('init'), [request], []))).toBe(
      'init | call Bash(t1) | ask Bash | done',
    );
  });

  it('that fail are told, and the run goes on', async () => {
    // biome-ignore lint/correctness/useYield: a source that fails before its first value
    async function* broken(): AsyncGenerator<CsdkCallback> {
      throw new Error('lost');
    }
    async function* frames(): AsyncGenerator<CsdkFrame> {
      await turn();
      yield* scriptFrames('init R(ok)');
    }
    expect(told(await eventsOf(frames(), { callbacks: broken() }))).toBe(
      '… callbacks/threw: lost | init | done',
    );
  });
});

describe('hooks that the host runs (C15)', () => {
  it('are progress', async () => {
    const queue = callbackQueue();
    queue.push({ kind: 'hook', event: 'PreCompact', input: {} });
    queue.push({ kind: 'hook', event: 'PostToolUse', input: { tool_name: 'Bash' } });
    async function* frames(): AsyncGenerator<CsdkFrame> {
      await turn();
      yield frame('x');
    }
    expect(told(await eventsOf(frames(), { callbacks: queue }))).toBe(
      '… hook/PreCompact | … hook/PostToolUse: Bash | init | … x | done',
    );
  });
});
