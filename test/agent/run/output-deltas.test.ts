import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Trail } from '../../../src/agent/run/index.js';
import { OutputDeltas } from '../../../src/agent/run/output-deltas.js';
import { createKernel, type PayloadOf } from '../../../src/kernel/internal.js';
import type { AssistantMessage } from '../../../src/sdk/stream/index.js';
import { virtualClock } from '../../../src/testing/index.js';

const family = 'agent.output.delta';
const run = { agentId: 'main', sessionKey: 's', sessionId: 'i', runId: 'r', trigger: 'user' };

/** A step of a stream: a piece of a text or of the output of a tool, a new message, or what changes who hears it. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ text: fc.string({ maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ thinking: fc.string({ maxLength: 3 }) }) },
  fc.record({ progress: fc.string({ maxLength: 3 }) }),
  fc.constantFrom('message', 'load', 'unload', 'tap', 'untap'),
);

describe('a delta of output', () => {
  it('is heard by whoever is registered when it comes, with the text of its message from the beginning (§1.5)', async () => {
    let heardInMid = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const kernel = createKernel();
        const received = { channel: 'c', accountId: 'a', receivedAtMs: 1, raw: {} };
        const trail = new Trail(kernel, await kernel.dispatch('ingress.received', received));
        const deltas = new OutputDeltas(trail, run, virtualClock());
        const heard: Partial<PayloadOf<typeof family>>[] = [];
        const expected: unknown[] = [];
        let [handler, tap]: (Disposable | undefined)[] = [];
        let tapped = 0;
        let tappedAll = 0;
        const texts = { text: '', thinking: '' };
        const comes = (payload: unknown): void => {
          if (handler !== undefined) expected.push(payload);
          if (tap !== undefined) tappedAll++;
        };
        for (const one of steps) {
          if (one === 'load')
            handler ??= kernel.contribute({
              ...{ family, extensionId: 'e', id: 'hears', class: 'observer' },
              handler: ({ payload }) => void heard.push(payload),
            });
          else if (one === 'tap') tap ??= kernel.tap({ outcome: () => tapped++ });
          else if (one === 'unload') handler = void handler?.[Symbol.dispose]();
          else if (one === 'untap') tap = void tap?.[Symbol.dispose]();
          else if (one === 'message') {
            deltas.openMessage();
            Object.assign(texts, { text: '', thinking: '' });
          } else if ('progress' in one) {
            const progress = { toolName: 't', toolCallId: '1', partialResult: one.progress };
            deltas.toolProgress({ type: 'tool_execution_update', args: {}, ...progress });
            comes({ kind: 'tool-progress', ...progress });
          } else {
            const [kind, delta] =
              'text' in one ? (['text', one.text] as const) : (['thinking', one.thinking] as const);
            const isInMid = texts[kind] !== '';
            texts[kind] += delta;
            const assistantMessageEvent = { type: `${kind}_delta`, delta } as never; // the fields that are read
            const message = {} as AssistantMessage; // no failure of a provider
            deltas.message({ type: 'message_update', message, assistantMessageEvent });
            comes({ kind, delta, text: texts[kind] });
            if (isInMid && handler !== undefined) heardInMid++;
          }
        }
        expect(heard).toMatchObject(expected);
        expect(heard).toHaveLength(expected.length);
        expect(tapped).toBe(tappedAll);
        const pieces = steps.filter((one) => typeof one === 'object').length;
        expect(kernel.stats().dispatches).toBe(1 + pieces); // one that nobody hears counts as well
      }),
    );
    expect(heardInMid).toBeGreaterThan(20);
  });
});
