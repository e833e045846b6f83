import { createHook } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { bridgeCsdk, type CsdkFrame } from '../../src/claude/index.js';
import { createKernel, type FamilyName } from '../../src/index.js';
import { bridged, bridgedSession, frames } from '../support/bridge-lab.js';

const event = (raw: Record<string, unknown>): CsdkFrame => ({ type: 'stream_event', event: raw });

/** A run whose model says a text in so many pieces. */
function pieces(count: number): readonly CsdkFrame[] {
  const delta = { type: 'text_delta', text: 'a' };
  return [
    frames.init(),
    event({ type: 'message_start', message: { id: 'm1', content: [] } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: count }, () => event({ type: 'content_block_delta', index: 0, delta })),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_stop' }),
    frames.result(),
  ];
}

/** The promises that a run makes in a kernel without handlers. */
async function promisesOf(messages: readonly CsdkFrame[]): Promise<number> {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) });
  const { run } = bridgeCsdk(createKernel(), {
    session: bridgedSession,
    runId: 'r-1',
    gate: 'observe-only',
  });
  hook.enable();
  try {
    for await (const _ of run(messages));
  } finally {
    hook.disable();
  }
  return promises;
}

/** The signals of Node that a run makes which asks about no call. */
async function signalsOf(messages: readonly CsdkFrame[]): Promise<number> {
  const { AbortController: Real } = globalThis;
  let signals = 0;
  globalThis.AbortController = class extends Real {
    constructor() {
      super();
      signals++;
    }
  };
  try {
    await promisesOf(messages);
  } finally {
    globalThis.AbortController = Real;
  }
  return signals;
}

/** The steps of the job queue between the source's last frame and the event that it becomes. */
async function stepsBehind(silent: number): Promise<number> {
  let steps = 0;
  let isTold = false;
  const count = (): void => {
    if (isTold) return;
    steps++;
    void Promise.resolve().then(count);
  };
  async function* source(): AsyncGenerator<CsdkFrame> {
    yield frames.init();
    for (let n = 0; n < silent; n++) yield { type: 'keep_alive' };
    count();
    yield frames.text('m1', 'hello');
  }
  const { run } = bridgeCsdk(createKernel(), {
    session: bridgedSession,
    runId: 'r-1',
    gate: 'observe-only',
  });
  for await (const { type } of run(source()))
    if (type === 'message_start') {
      isTold = true;
      break;
    }
  return steps;
}

describe('the steps of a bridged run', () => {
  it('a run that asks about no call makes no signal of Node (docs/performance)', async () => {
    expect(await signalsOf(pieces(2))).toBe(0);
  });

  it('do not grow with the frames before an event that become none: none of them is held (§18.1)', async () => {
    const [few, many] = [await stepsBehind(10), await stepsBehind(2_000)];
    expect(few).toBeGreaterThan(0);
    expect(many).toBe(few);
  });

  it('are four promises a piece at most: those of the generator that gives it (§18.1)', async () => {
    const [few, many] = [await promisesOf(pieces(100)), await promisesOf(pieces(1_100))];
    expect((many - few) / 1_000).toBeLessThanOrEqual(4);
  });

  it('are one dispatch a piece, in its place, and none for a frame that says nothing (§18.1)', async () => {
    const count = (families: readonly FamilyName[]) =>
      families.filter((family) => family === 'agent.output.delta').length;
    const few = await bridged(pieces(10), { gate: 'observe-only' });
    const more = await bridged(pieces(60), { gate: 'observe-only' });
    expect([count(few.families()), count(more.families())]).toEqual([10, 60]);
    expect(more.families().length - few.families().length).toBe(50);
  });

  it('tell a callback before the frame that the SDK yields after it, without a pause between', async () => {
    const { hook, compact, result } = {
      hook: 'PreCompact',
      compact: { trigger: 'auto' },
      result: frames.result,
    };
    const lab = await bridged(async function* (sdk) {
      yield frames.init();
      for (let n = 0; n < 3; n++) {
        void sdk.hook(hook, compact);
        yield frames.system('compact_boundary', { compact_metadata: { trigger: 'auto' } });
      }
      yield result();
    });
    expect(lab.of('compaction.before')).toHaveLength(3);
    expect(lab.of('compaction.after')).toHaveLength(3);
  });
});
