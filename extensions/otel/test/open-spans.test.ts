import { context, trace } from '@opentelemetry/api';
import { NodeTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Fact } from 'sluice/extension';
import { createTestKernel, samplePayload } from 'sluice/testing';
import { afterEach, expect, it } from 'vitest';
import { MessageSpans } from '../src/message-spans.js';

afterEach(() => {
  trace.disable();
  context.disable();
});

/** Spans of entries that a test tells, with the names of those that were begun and ended. */
function lab() {
  const begun: string[] = [];
  const ended: string[] = [];
  const processor: SpanProcessor = {
    onStart: ({ name }) => void begun.push(name),
    onEnd: ({ name }) => void ended.push(name),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  provider.register();
  const spans = new MessageSpans({
    ...{ tracer: provider.getTracer('test'), now: () => 2_000 },
    ...{ captureContent: false, scrub: String, handlersFromMs: 0 },
  });
  const update = (state: 'accepted' | 'begun' | 'ended'): Fact => ({
    ...{ kind: 'update', id: 'u-1', correlationId: 'u-1', atMs: 1_000, state, channel: 'fake' },
  });
  return { spans, begun, ended, update };
}

it('the handlers of a delta have no spans, so that none of a streamed reply is left open (sight §5.1)', async () => {
  const { spans, begun, ended, update } = lab();
  spans.hear(update('accepted'));
  spans.hear(update('begun'));
  const { kernel } = createTestKernel();
  using _told = kernel.tap({
    outcome: (outcome) => {
      const { event } = outcome;
      spans.run(() => undefined, { extensionId: 'acme', contributionId: 'cut', event });
      const { eventId: id, correlationId, occurredAt: atMs } = event;
      spans.hear({ kind: 'dispatch', id, correlationId, atMs, outcome });
    },
  });
  const family = 'agent.output.delta';
  kernel.dispatchSync(family, samplePayload(family), { correlationId: 'u-1' });
  spans.hear(update('ended'));
  expect([begun, ended]).toEqual([['process fake'], ['process fake']]);
});

it('a message under way has its spans ended when the extension goes', () => {
  const { spans, begun, ended, update } = lab();
  spans.hear(update('accepted'));
  spans.hear(update('begun'));
  expect([begun, ended]).toEqual([['process fake'], []]);
  spans[Symbol.dispose]();
  expect(ended).toEqual(['process fake']);
});
