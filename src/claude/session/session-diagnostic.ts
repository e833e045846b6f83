/** The subject of a diagnostic. Narrow by `kind`. */
export type DiagnosticFact =
  /** A frame of a type that is not known here. The SDK's set grows; such a frame has no effect. */
  | { readonly kind: 'unknown_frame'; readonly type: string; readonly subtype?: string }
  /** A known frame without the fields that it should have. */
  | { readonly kind: 'malformed_frame'; readonly type: string; readonly problem: string }
  /** The same frame came again. */
  | { readonly kind: 'duplicate_frame'; readonly type: string; readonly uuid: string }
  /** A frame or a callback came after the run's end. */
  | { readonly kind: 'after_end'; readonly type: string }
  | {
      /** Text that came too late, or again: it was not emitted. */
      readonly kind: 'late_text';
      /** Empty where it belongs to no message that is open. */
      readonly messageId: string;
      readonly block: 'text' | 'thinking';
      readonly chars: number;
    }
  | {
      /** A complete block says something else than its deltas. What was shown stays; the message holds the truth. */
      readonly kind: 'diverging_text';
      readonly messageId: string;
      readonly contentIndex: number;
      readonly streamedChars: number;
      readonly completeChars: number;
    }
  /** A tool answered a second time. */
  | { readonly kind: 'repeated_tool_result'; readonly toolCallId: string }
  /** A compaction that had been reported was reported again. */
  | { readonly kind: 'repeated_compaction'; readonly type: string }
  /** A subagent's output was left out: a delta, or nothing in the run that it could be an update of. */
  | { readonly kind: 'subagent_left_out'; readonly lane: string; readonly type: string }
  /** The SDK took back frames that may have been shown. Session events cannot say so. */
  | { readonly kind: 'retracted'; readonly uuids: readonly string[]; readonly by: string }
  /** The conversation was thrown away: everything that was open is closed. */
  | { readonly kind: 'reset'; readonly trigger?: string }
  /** The callbacks could not be read on. */
  | { readonly kind: 'callbacks_failed'; readonly error: unknown }
  /** The frames' source failed after the last result, or while it was closed. */
  | { readonly kind: 'source_failed'; readonly error: unknown }
  | {
      /** A result that does not decide how the run ends: more turns followed, or it was a background task's. */
      readonly kind: 'result_passed_over';
      readonly isBackground: boolean;
      /** The result said that its turn failed. */
      readonly failed: boolean;
    }
  | {
      /** Nothing began in time after a result, although there was work left. */
      readonly kind: 'idle_timed_out';
      readonly backgroundTasks: number;
      readonly queuedTurns: number;
    };

/**
 * A thing that a normalizer left out or could not read, with the count of its kind in this run.
 *
 * @example
 * const onDiagnostic = (one: SessionDiagnostic) => logger.debug(one.kind, { count: one.count });
 */
export type SessionDiagnostic = DiagnosticFact & {
  /** The number of this kind so far, with this one. */
  readonly count: number;
};

/** Counts what is left out, and tells it. An error of the listener goes to the reader of the events. */
export function diagnosticReporter(
  onDiagnostic?: (diagnostic: SessionDiagnostic) => void,
): (fact: DiagnosticFact) => void {
  const counts = new Map<DiagnosticFact['kind'], number>();
  return (fact) => {
    const count = (counts.get(fact.kind) ?? 0) + 1;
    counts.set(fact.kind, count);
    onDiagnostic?.({ ...fact, count });
  };
}
