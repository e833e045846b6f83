import type { TimelineEntry } from 'sluice/host';

/** The entries of one message in a part of a journal. */
export interface MessagePart {
  /** The id of its event. */
  readonly id: string;
  /** The first and the newest of its steps there, if there is one. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** How it ended, or its newest step. */
  readonly state?: string;
  readonly channel?: string;
  readonly cancels: number;
  readonly failures: number;
}

/** Counts what belongs to each message. It takes the newest entry first. */
export class MessageParts {
  readonly #parts = new Map<string, MessagePart>();
  /** Messages with a step in this part. */
  known = 0;

  add(record: TimelineEntry): void {
    const { correlationId: id, atMs, kind } = record;
    const of = this.#parts.get(id) ?? { id, cancels: 0, failures: 0 };
    if (kind === 'dispatch') {
      const { status, failures } = record.outcome;
      const cancels = of.cancels + (status === 'cancelled' ? 1 : 0);
      this.#parts.set(id, { ...of, cancels, failures: of.failures + failures.length });
    } else if (kind === 'update') {
      const { state, outcome, channel = of.channel } = record;
      if (of.state === undefined) this.known++;
      const newest = { state: state === 'dead' ? state : (outcome ?? state), toMs: atMs };
      const part = { ...newest, ...of, fromMs: atMs, ...(channel !== undefined && { channel }) };
      this.#parts.set(id, part);
    }
  }

  all(): readonly MessagePart[] {
    return [...this.#parts.values()];
  }
}
