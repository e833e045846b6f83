import { type OrderingViolation, orderingChecker } from '../../csdk/index.js';
import type { SessionEvent } from '../../stream/index.js';
import { printable } from '../shell/text.js';

/** A violation, with the number of its run in a recording. */
export interface RunViolation extends OrderingViolation {
  /** From 1. */
  readonly run: number;
}

/** Checks the events of runs that follow each other: a run begins after each `agent_end`. */
export async function* runViolations(
  events: AsyncIterable<SessionEvent>,
): AsyncGenerator<RunViolation> {
  let run = 1;
  let checker = orderingChecker();
  let hasEnded = false;
  let isEmpty = true;
  for await (const event of events) {
    isEmpty = false;
    if (hasEnded && event.type === 'agent_start') {
      run++;
      checker = orderingChecker();
      hasEnded = false;
    }
    for (const violation of checker.take(event)) yield { run, ...violation };
    hasEnded ||= event.type === 'agent_end';
  }
  if (!isEmpty) for (const violation of checker.finish()) yield { run, ...violation };
}

/** Writes a violation as a line for people. Events are counted from 1, as runs are. */
export function violationLine({ run, index, rule, message }: RunViolation): string {
  return printable(`run ${run}, event ${index + 1}: ${rule}: ${message}`);
}
