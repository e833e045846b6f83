import { createHash } from 'node:crypto';
import * as otel from '@opentelemetry/api';

/** Makes the ids of spans: an `IdGenerator` of the OpenTelemetry SDK. */
export interface EventIds {
  generateTraceId(): string;
  generateSpanId(): string;
}

const seedKey = otel.createContextKey('sluice-otel: the event that the trace follows from');

/**
 * Has the trace of a message follow from the id of its event, so that hosts and restarts agree on it (sight §5.2). All other ids are
 * random. Give it to the SDK, which needs a context manager for that: `register` of its provider sets one.
 *
 * @example
 * new NodeTracerProvider({ idGenerator: eventIds, spanProcessors }).register();
 */
export const eventIds: EventIds = {
  generateTraceId: () => seeded()?.traceId ?? randomId(16),
  generateSpanId: () => seeded()?.spanId ?? randomId(8),
};

/** The context that the first span of a seed has: 16 bytes of a digest, and 8 more. */
export function seedContext(seed: string): otel.SpanContext {
  const digest = createHash('sha256').update(seed).digest('hex');
  return {
    traceId: digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    traceFlags: otel.TraceFlags.SAMPLED,
    isRemote: true,
  };
}

/** Starts the first span of a trace. */
export function startSeeded(seed: string, start: (root: otel.Context) => otel.Span): otel.Span {
  const root = otel.ROOT_CONTEXT.setValue(seedKey, seed);
  return otel.context.with(root, () => start(root));
}

function seeded(): otel.SpanContext | undefined {
  const seed = otel.context.active().getValue(seedKey);
  return typeof seed === 'string' ? seedContext(seed) : undefined;
}

function randomId(bytes: number): string {
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));
  return id.toString('hex');
}
