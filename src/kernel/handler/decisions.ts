/** A veto's decision that the action must not happen. Plain tagged data (spec §8). */
export interface Cancel<Code extends string = string> {
  readonly kind: 'cancel';
  /** One of the codes that the stage declares, or `other`. */
  readonly code: Code;
  /** The reason, for people. */
  readonly text?: string;
  /** The reason, for programs: plain data. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** None: see `CancelWithReply`. */
  readonly reply?: never;
}

/**
 * A cancel with a text for the sender of the message that is cancelled (spec §8.6). Only a veto of a stage whose row says
 * `cancelReplies` may return it.
 */
export interface CancelWithReply<Code extends string = string> extends Omit<Cancel<Code>, 'reply'> {
  /** The text for the sender; the operator's text for the code wins. */
  readonly reply: string;
}

/** The reason of a cancel. */
export interface CancelReason {
  /** For people. */
  readonly text?: string;
  /** For programs: plain data. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A veto's decision that it has judged the payload and lets it pass (spec §8). */
export interface Allow {
  readonly kind: 'allow';
}

/** A resolver's candidate (spec §9). */
export interface Select<Target = unknown> {
  readonly kind: 'select';
  readonly target: Target;
  /** Named by somebody, not inferred. Explicit beats inferred. */
  readonly explicit: boolean;
  /** The higher wins among equals; by default 0. */
  readonly rank: number;
}

const allowed: Allow = Object.freeze({ kind: 'allow' });

/**
 * Cancels the action that the stage is about. The first cancel ends the stage; nothing can undo it.
 *
 * @param code one of the codes that the stage declares, or `other`.
 * @example
 * @param reason why, for people and for programs. `reply` is a text for the sender of the message: `routing.resolving` and
 *   `egress.preparing` take it.
 * @example
 * api.veto('egress.preparing', 'quiet-hours', () => cancel('quiet-hours', { text: 'until 8:00' }));
 * api.veto('routing.resolving', 'limit', () => cancel('rate-limited', { reply: 'One question a minute, please.' }));
 */
export function cancel<const Code extends string>(code: Code, reason?: CancelReason): Cancel<Code>;
export function cancel<const Code extends string>(
  code: Code,
  reason: CancelReason & { readonly reply: string },
): CancelWithReply<Code>;
export function cancel(
  code: string,
  reason: CancelReason & { readonly reply?: string } = {},
): Cancel | CancelWithReply {
  return { kind: 'cancel', code, ...reason } as Cancel | CancelWithReply; // the overloads tell them apart
}

/**
 * Says that a veto has judged the payload and lets it pass. A fail-closed veto must return this or a cancel.
 *
 * @example
 * api.veto('agent.tool.calling', 'policy', { failClosed: true }, () => allow());
 */
export function allow(): Allow {
  return allowed;
}

/**
 * Proposes a target. Explicit beats inferred, then the higher rank, then run order.
 *
 * @param target what the stage's selection schema describes.
 * @example
 * api.resolve('routing.resolving', 'by-topic', () => select({ agentId: 'billing' }, { rank: 10 }));
 */
export function select<const Target>(
  target: Target,
  options: { readonly explicit?: boolean; readonly rank?: number } = {},
): Select<Target> {
  return { kind: 'select', target, explicit: options.explicit ?? false, rank: options.rank ?? 0 };
}
