import type { HrTime, Tracer } from '@opentelemetry/api';

/** The settings that spans are made with. */
export interface SpanOptions {
  readonly tracer: Tracer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Texts of messages, prompts, answers and tools are attributes. */
  readonly captureContent: boolean;
  /** Cleans such a text, or JSON of texts, as the host cleans what it keeps. */
  readonly scrub: (text: string) => string;
  /** Milliseconds from which on a handler has a span of its own. */
  readonly handlersFromMs: number;
}

/** A time as the SDK takes it: a number would be a time of its own clock if it is small. */
export function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
