import { recut } from './held-text.js';
import { onlyGrowing } from './only-growing.js';
import type { ReplyProgram, ReplyTrace, TraceEntry } from './reply-program.js';

/** Where ours does something else on purpose, and what exactly: what the real one does with another program. */
export interface Divergence {
  readonly name: string;
  readonly reason: string;
  appliesTo(program: ReplyProgram): boolean;
  /** The program that the real one does the same with as ours with the given one. */
  rewrite?(program: ReplyProgram): ReplyProgram;
  /** What then still differs. */
  rewriteTrace?(trace: ReplyTrace, program: ReplyProgram): ReplyTrace;
}

const has = (program: ReplyProgram, pattern: RegExp): boolean =>
  program.events.some(
    (event) =>
      event.type === 'message_update' &&
      event.assistantMessageEvent.type === 'text_delta' &&
      pattern.test(event.assistantMessageEvent.delta),
  );

/** Every deliberate difference of behaviour. What differs in another way, or never does, fails. */
export const divergences: readonly Divergence[] = [
  {
    name: 'events-in-turn',
    reason:
      'Events that come in one tick overtake block replies and pending flushes in the real one: a start after its result. In ours an event waits for the one before it, however fast they come.',
    appliesTo: ({ feed }) => feed === 'burst',
    rewrite: (program) => ({ ...program, feed: 'settled' }),
  },
  {
    name: 'media-lines-in-one-piece',
    reason:
      'The real one finds media for a partial reply only where one piece holds the whole line, and shows what it takes for text until then. Ours waits for the end of a line that may name media.',
    appliesTo: (program) => has(program, /(?:^|\n)\s*(?:M(?:E(?:D(?:I(?:A(?::[^\n]*)?)?)?)?)?)?$/),
    rewrite: (program) => ({ ...program, events: recut(program.events, 'media') }),
  },
  {
    name: 'tags-in-one-piece',
    reason:
      'Models send a tag in pieces. The real one shows the pieces, and then nothing more until the text is longer than what it has shown. Ours waits until it knows whether it is a tag.',
    appliesTo: (program) => has(program, /[</a-z]\s*$/i),
    rewrite: (program) => ({ ...program, events: recut(program.events, 'tags') }),
  },
  {
    name: 'partials-take-nothing-back',
    reason:
      'A text can lose what was shown of it: a tag hides in another, or an answer turns out to be none. The real one says nothing of that, and goes on from what is left: what it shows next does not begin with what it has shown. Ours shows the text again once it does, and the whole of it as a block.',
    appliesTo: (program) => has(program, /[<NM[]/),
    rewriteTrace: onlyGrowing,
  },
  {
    name: 'throwing-callback-stops-nothing',
    reason:
      'What a callback throws leaves the real one through the session, and takes the rest of the event with it. Ours tells the logger, and goes on.',
    appliesTo: ({ setting }) => setting.throwing !== undefined,
    rewrite: ({ setting: { throwing: _, ...setting }, ...program }) => ({ ...program, setting }),
  },
  {
    name: 'run-error-is-told',
    reason:
      'A run of the Claude Agent SDK can fail with its messages whole (too many turns, a stream that breaks off). The real one knows no such runs and would say that it ended well.',
    appliesTo: ({ events }) => {
      const last = events.at(-1);
      return last?.type === 'agent_end' && last.error !== undefined;
    },
    rewriteTrace(trace, { events }) {
      const last = events.at(-1);
      const message = last?.type === 'agent_end' ? last.error?.message : undefined;
      const stopped = events.findLast((event) => event.type === 'message_end')?.message.stopReason;
      if (message === undefined || stopped === 'error' || stopped === 'aborted') return trace;
      return { ...trace, calls: trace.calls.map((call) => withError(call, message.trim())) };
    },
  },
];

function withError(call: TraceEntry, error: string): TraceEntry {
  const [name, payload] = call;
  const { stream, data } = (payload ?? {}) as { stream?: string; data?: Record<string, unknown> }; // as both sides report
  if (stream !== 'lifecycle' || data?.['phase'] !== 'end') return call;
  const { endedAt } = data;
  const at = endedAt === undefined ? {} : { endedAt };
  return [name, { data: { ...at, error, phase: 'error' }, stream }];
}
