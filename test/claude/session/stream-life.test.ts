import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  type CsdkCallback,
  type CsdkFrame,
  callbackQueue,
  normalizeSession,
  type SessionDiagnostic,
} from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { csdkScript, scriptFrames } from '../../support/csdk-script.js';
import { deferred, faultClock, settleAll } from '../../support/faults-clock.js';
import { sessionNotation } from '../../support/session-notation.js';

/** A source that says what is done to it, and waits after its last item. */
function hanging<T>(items: readonly T[]) {
  let at = 0;
  const source = {
    reads: 0,
    returned: 0,
    [Symbol.asyncIterator]: () => source,
    next: (): Promise<IteratorResult<T>> => {
      source.reads++;
      const value = items[at++];
      return value === undefined
        ? new Promise(() => undefined)
        : Promise.resolve({ done: false, value });
    },
    return: (): Promise<IteratorResult<T>> => {
      source.returned++;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return source;
}

async function collect(stream: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const permission = csdkScript('perm(t1 Bash {"a":1})').flatMap((step) =>
  step.kind === 'callback' ? [step.callback] : [],
);

describe('the end of a stream', () => {
  it('comes although the callbacks never end, and lets go of them (csdk §1.4)', async () => {
    const callbacks = hanging<CsdkCallback>(permission);
    const events = await collect(
      normalizeSession(scriptFrames('A(m1)[text"a"] R(ok)'), { callbacks }),
    );
    expect(sessionNotation(events)).toContain('AE(ok)');
    expect(callbacks.returned).toBe(1);
  });

  it('comes although the callbacks fail, which is told (csdk §1.4)', async () => {
    async function* failing(): AsyncGenerator<CsdkCallback> {
      yield* permission;
      throw new Error('the hooks broke');
    }
    const told: SessionDiagnostic[] = [];
    const frames = hangingThen(scriptFrames('A(m1)[text"a"] R(ok)'));
    const events = await collect(
      normalizeSession(frames, {
        callbacks: failing(),
        onDiagnostic: (one) => void told.push(one),
      }),
    );
    expect(sessionNotation(events)).toMatch(/^AS XS\(t1,Bash,.*AE\(ok\)$/);
    expect(told).toEqual([
      { kind: 'callbacks_failed', error: new Error('the hooks broke'), count: 1 },
    ]);
  });

  it('comes although the callbacks cannot be read at all', async () => {
    const told: string[] = [];
    const callbacks: AsyncIterable<CsdkCallback> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw new Error('read once already');
        },
      }),
    };
    const events = await collect(
      normalizeSession(scriptFrames('R(ok)'), {
        callbacks,
        onDiagnostic: ({ kind }) => void told.push(kind),
      }),
    );
    expect(sessionNotation(events)).toBe('AS AE(ok)');
    expect(told).toEqual(['callbacks_failed']);
  });

  it('lets go of both sources when its reader stops (csdk §1.5)', async () => {
    const frames = hanging<CsdkFrame>(scriptFrames('A(m1)[text"a"] A(m2)[text"b"]'));
    const callbacks = hanging<CsdkCallback>([]);
    for await (const event of normalizeSession(frames, { callbacks }))
      if (event.type === 'message_start') break;
    expect([frames.returned, callbacks.returned]).toEqual([1, 1]);
  });

  it('lets go of both sources when its reader leaves while it waits for a frame (csdk §1.5)', async () => {
    const frames = hanging<CsdkFrame>([]);
    const callbacks = hanging<CsdkCallback>([]);
    const events = normalizeSession(frames, { callbacks });
    await events.next();
    const waiting = events.next();
    await settleAll();
    expect(await events.return(undefined)).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect([frames.returned, callbacks.returned]).toEqual([1, 1]);
  });

  it('lets go of both sources when its reader leaves before it reads', async () => {
    const frames = hanging<CsdkFrame>([]);
    const callbacks = hanging<CsdkCallback>([]);
    await normalizeSession(frames, { callbacks }).return(undefined);
    expect([frames.returned, callbacks.returned]).toEqual([1, 1]);
  });

  it('lets go of a source at its result, and waits until it has (csdk §1.5)', async () => {
    const gone = deferred();
    const source = hanging<CsdkFrame>(scriptFrames('R(ok)'));
    source.return = async () => {
      await gone.promise;
      source.returned++;
      return { done: true, value: undefined };
    };
    const done = collect(normalizeSession(source));
    await settleAll();
    expect(source.returned).toBe(0);
    gone.resolve(undefined);
    await done;
    expect(source.returned).toBe(1);
  });

  it('does not ask a source to let go that has ended by itself', async () => {
    const source = hanging<CsdkFrame>([]);
    source.next = () => Promise.resolve({ done: true, value: undefined });
    await collect(normalizeSession(source));
    expect(source.returned).toBe(0);
  });

  it('swallows what a source throws when it is let go after the result, and tells it (csdk §6.5)', async () => {
    const told: string[] = [];
    const source = hanging<CsdkFrame>(scriptFrames('A(m1)[text"a"] R(err,max_turns)'));
    source.return = () => Promise.reject(new Error('exit 1'));
    const events = await collect(
      normalizeSession(source, { onDiagnostic: ({ kind }) => void told.push(kind) }),
    );
    expect(sessionNotation(events)).toContain('AE(err:');
    expect(told).toEqual(['source_failed']);
  });

  it('is an error where the source cannot be read at all', async () => {
    const source: AsyncIterable<CsdkFrame> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw new Error('read once already');
        },
      }),
    };
    expect(sessionNotation(await collect(normalizeSession(source)))).toBe('AS AE(err:threw)');
  });

  it('reads a frame only when its events are wanted', async () => {
    const source = hanging<CsdkFrame>(scriptFrames('A(m1)[text"a"] A(m2)[text"b"] R(ok)'));
    const events = normalizeSession(source);
    await events.next(); // agent_start
    expect(source.reads).toBe(0);
    await events.next(); // message_start
    await settleAll();
    expect(source.reads).toBe(1);
    await events.return(undefined);
  });
});

describe('the signal', () => {
  it('ends a run that waits for a frame, as aborted (csdk §6.3)', async () => {
    const abort = new AbortController();
    const source = hanging<CsdkFrame>(scriptFrames('ms(m1) bs0:text d0"par"'));
    const events = collect(normalizeSession(source, { signal: abort.signal }));
    await settleAll();
    abort.abort();
    expect(sessionNotation(await events)).toBe('AS MS TS0 TD0"par" TE0"par" ME(aborted) AE(abort)');
    expect(source.returned).toBe(1);
  });

  it('ends a run before it reads anything, where it was aborted before', async () => {
    const source = hanging<CsdkFrame>(scriptFrames('A(m1)[text"a"]'));
    const events = await collect(normalizeSession(source, { signal: AbortSignal.abort() }));
    expect(sessionNotation(events)).toBe('AS AE(abort)');
    expect([source.reads, source.returned]).toEqual([0, 1]);
  });

  it('ends a run in the middle of an array of frames', async () => {
    const abort = new AbortController();
    const events: SessionEvent[] = [];
    const frames = scriptFrames('A(m1)[text"a"] A(m2)[text"b"] A(m3)[text"c"] R(ok)');
    for await (const event of normalizeSession(frames, { signal: abort.signal })) {
      events.push(event);
      if (event.type === 'message_end') abort.abort();
    }
    expect(sessionNotation(events)).toMatch(/TD0"b".*AE\(abort\)$/); // the frame that ended the first message
    expect(sessionNotation(events)).not.toContain('TD0"c"');
  });

  it('is let go of at the end, and not held by a stream that nobody reads', async () => {
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    normalizeSession(scriptFrames('R(ok)'), { signal });
    expect(listeners()).toBe(0);
    const events = normalizeSession(hanging(scriptFrames('A(m1)[text"a"] R(ok)')), { signal });
    await events.next();
    await events.next();
    expect(listeners()).toBe(1);
    await collect(events);
    expect(listeners()).toBe(0);
  });

  it('after the result changes nothing', async () => {
    const abort = new AbortController();
    const events: SessionEvent[] = [];
    for await (const event of normalizeSession(scriptFrames('A(m1)[text"a"] R(ok)'), {
      signal: abort.signal,
    })) {
      events.push(event);
      if (event.type === 'agent_end') abort.abort();
    }
    expect(sessionNotation(events)).toMatch(/AE\(ok\)$/);
  });

  it('tells an abort from an error that the SDK throws, whose name is "Error" (csdk §6.3)', async () => {
    const abort = new AbortController();
    async function* sdk() {
      yield* scriptFrames('A(m1)[text"a"]');
      abort.abort();
      throw new Error('Claude Code process aborted by user');
    }
    const events = await collect(normalizeSession(sdk(), { signal: abort.signal }));
    expect(sessionNotation(events)).toMatch(/AE\(abort\)$/);
  });

  it('is not needed for an error that is called AbortError', async () => {
    async function* sdk() {
      yield* scriptFrames('A(m1)[text"a"]');
      throw new DOMException('stopped', 'AbortError');
    }
    expect(sessionNotation(await collect(normalizeSession(sdk())))).toMatch(/AE\(abort\)$/);
  });
});

describe('end: idle', () => {
  const frames = 'bg(b1) A(m1)[text"a"] R(ok)';

  it('waits no longer than it was told to (csdk §7.3)', async () => {
    const clock = faultClock();
    const told: SessionDiagnostic[] = [];
    let ended = false;
    const events = collect(
      normalizeSession(hanging<CsdkFrame>(scriptFrames(frames)), {
        end: 'idle',
        idleTimeoutMs: 5_000,
        clock,
        onDiagnostic: (one) => void told.push(one),
      }),
    ).finally(() => {
      ended = true;
    });
    await settleAll();
    clock.advance(4_999);
    await settleAll();
    expect(ended).toBe(false);
    clock.advance(1);
    expect(sessionNotation(await events)).toMatch(/AE\(ok\)$/);
    expect(told).toEqual([
      { kind: 'idle_timed_out', backgroundTasks: 1, queuedTurns: 0, count: 1 },
    ]);
    expect(clock.armed).toBe(0);
  });

  it('waits without a limit while a turn goes on, and anew after it', async () => {
    const clock = faultClock();
    const open = deferred();
    async function* source() {
      yield* scriptFrames(frames);
      yield* scriptFrames('ms(m2) bs0:text d0"b"');
      await open.promise;
      yield* scriptFrames('bx0 mx R(ok)');
      await new Promise(() => undefined);
    }
    const events = collect(
      normalizeSession(source(), { end: 'idle', idleTimeoutMs: 5_000, clock }),
    );
    await settleAll();
    expect(clock.armed).toBe(0);
    open.resolve(undefined);
    await settleAll();
    expect(clock.armed).toBe(1);
    clock.advance(5_000);
    expect(sessionNotation(await events)).toMatch(/TE0"b" ME\(stop\) AE\(ok\)$/);
  });

  it('does not end a turn that began in time, though its reader was slow to take it (csdk §7.3)', async () => {
    const clock = faultClock();
    const source = scriptFrames(`${frames} A(m2)[text"b"] A(m3)[text"c"] R(ok)`);
    const events: SessionEvent[] = [];
    let messages = 0;
    for await (const event of normalizeSession(source, {
      end: 'idle',
      idleTimeoutMs: 5_000,
      clock,
    })) {
      events.push(event);
      if (event.type === 'message_start' && ++messages === 2) clock.advance(5_000);
    }
    expect(sessionNotation(events)).toMatch(/TE0"b" ME\(stop\) MS .*TE0"c" ME\(stop\) AE\(ok\)$/);
  });

  it('is not blocked by what background tasks tell', async () => {
    const clock = faultClock();
    const queue: CsdkFrame[] = [...scriptFrames(frames)];
    let wake: () => void = () => undefined;
    async function* source() {
      for (;;) {
        const frame = queue.shift();
        if (frame !== undefined) yield frame;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    }
    const events = collect(
      normalizeSession(source(), { end: 'idle', idleTimeoutMs: 5_000, clock }),
    );
    for (let i = 0; i < 5; i++) {
      await settleAll();
      queue.push(...scriptFrames('task_progress(b1,t1)'));
      wake();
      await settleAll();
      clock.advance(1_000);
    }
    expect(sessionNotation(await events)).toMatch(/AE\(ok\)$/);
  });
});

describe('the trace', () => {
  it('has one line for each event, with the run and the session, and nothing that was said (csdk §9.2)', async () => {
    const lines: { message: string; fields: Readonly<Record<string, unknown>> | undefined }[] = [];
    const quiet = () => expect.fail('only debug');
    const logger = {
      debug: (message: string, fields?: Readonly<Record<string, unknown>>) =>
        void lines.push({ message, fields }),
      info: quiet,
      warn: quiet,
      error: quiet,
    };
    const frames = scriptFrames(
      'A(m1)[thk"secret", text"secret", tu t1 Bash {"a":"secret"}] CB U[tr t1 ok "secret"] R(ok)',
    );
    const events = await collect(normalizeSession(frames, { logger, runId: 'r1' }));
    expect(lines.map(({ fields }) => fields?.type)).toEqual(events.map(({ type }) => type));
    expect(lines[1]?.fields).toMatchObject({ runId: 'r1', sessionId: 's1' }); // as the frames say
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('says the session that it was told', async () => {
    const fields: unknown[] = [];
    const none = () => undefined;
    const logger = {
      debug: (_: string, one?: object) => void fields.push(one),
      info: none,
      warn: none,
      error: none,
    };
    await collect(normalizeSession(scriptFrames('R(ok)'), { logger, sessionId: 'mine' }));
    expect(fields).toEqual([
      { runId: undefined, sessionId: 'mine', type: 'agent_start' },
      expect.objectContaining({ sessionId: 'mine', type: 'agent_end' }),
    ]);
  });
});

describe('a callback queue', () => {
  it('starts a tool that waits for permission while its frame waits to be read (csdk §4.2)', async () => {
    const callbacks = callbackQueue();
    const frames = hanging<CsdkFrame>(scriptFrames('ms(m1) bs0:tu t1 Bash'));
    const events = normalizeSession(frames, { callbacks });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of events) {
        seen.push(event.type);
        if (event.type === 'tool_execution_start') break;
      }
    })();
    await settleAll();
    expect(seen).toEqual(['agent_start', 'message_start']);
    for (const one of permission) callbacks.push(one);
    await reading;
    expect(seen.at(-1)).toBe('tool_execution_start');
  });

  it('keeps its place before a frame that came later, while the reader is busy (csdk §1.3)', async () => {
    const callbacks = callbackQueue();
    const later = deferred();
    async function* source() {
      await later.promise;
      yield* scriptFrames('U[tr t2 ok "x"] R(ok)');
    }
    const [first, second] = csdkScript('perm(t1 Bash {}) perm(t2 Bash {"a":1})').flatMap((step) =>
      step.kind === 'callback' ? [step.callback] : [],
    );
    const events: SessionEvent[] = [];
    const reading = (async () => {
      for await (const event of normalizeSession(source(), { callbacks })) {
        events.push(event);
        if (events.length !== 2) continue;
        if (second !== undefined) callbacks.push(second);
        await settleAll();
        later.resolve(undefined);
        await settleAll();
      }
    })();
    await settleAll();
    if (first !== undefined) callbacks.push(first);
    await reading;
    expect(sessionNotation(events)).toContain(
      'XS(t1,Bash,{}) XS(t2,Bash,{"a":1}) XE(t2,Bash,ok,"x")',
    );
  });

  it('does not keep the frames waiting, though its callbacks come without a pause (csdk §1.4)', async () => {
    async function* endless(): AsyncGenerator<CsdkCallback> {
      for (let i = 0; ; i++)
        yield { kind: 'permission_request', toolUseId: `t${i}`, toolName: 'Bash', input: {} };
    }
    const frames = scriptFrames('A(m1)[text"a"] R(ok)');
    for (const source of [frames, hanging(frames)]) {
      const events: SessionEvent[] = [];
      for await (const event of normalizeSession(source, { callbacks: endless() })) {
        events.push(event);
        if (event.type === 'message_start') await settleAll(); // a source that is read without a limit goes on for ever here
      }
      expect(
        events.filter(({ type }) => !type.startsWith('tool_')).map(({ type }) => type),
      ).toEqual([
        'agent_start',
        'message_start',
        ...['message_update', 'message_update', 'message_update'],
        'message_end',
        'agent_end',
      ]);
    }
  });
});

/** Frames that come a moment after what is there already. */
async function* hangingThen(frames: readonly CsdkFrame[]): AsyncGenerator<CsdkFrame> {
  await settleAll();
  yield* frames;
}
