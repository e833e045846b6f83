import { textOf } from '../channel/settings.js';

/** An event as it is kept: one key and one write for each, so that it is never in two states. */
export interface Kept {
  readonly status: 'pending' | 'completed' | 'failed';
  readonly payload?: unknown;
  readonly metadata?: unknown;
  readonly receivedAt: number;
  readonly updatedAt: number;
  readonly laneKey?: string;
  readonly attempts: number;
  readonly lastAttemptAt?: number;
  readonly lastError?: string;
  readonly reason?: string;
}

export interface Claim {
  readonly token: string;
  readonly ownerId: string;
  readonly claimedAt: number;
}

/** An event as its plugin sees it. */
export type Event = Readonly<Record<string, unknown>> & { readonly id: string };
/** An event by its id, or by the claim on it. */
export type Named = string | { readonly id: string; readonly claim?: { readonly token: string } };

/** The options of the calls of a queue, each of which reads some of them. */
export interface How {
  readonly metadata?: unknown;
  readonly laneKey?: string;
  readonly receivedAt?: number;
  readonly completedAt?: number;
  readonly failedAt?: number;
  readonly refreshedAt?: number;
  readonly releasedAt?: number;
  readonly now?: number;
  readonly lastError?: string;
  readonly recordAttempt?: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly ownerId?: string;
  readonly limit?: number | 'all';
  readonly orderBy?: 'received' | 'id';
  readonly scanLimit?: number;
  readonly staleMs?: number;
  readonly blockedLaneKeys?: Iterable<string>;
  readonly candidateIds?: Iterable<string>;
  readonly protectIds?: Iterable<string>;
  readonly pendingTtlMs?: number;
  readonly completedTtlMs?: number;
  readonly failedTtlMs?: number;
  readonly pendingMaxEntries?: number;
  readonly completedMaxEntries?: number;
  readonly failedMaxEntries?: number;
  readonly deriveLaneKey?: (event: Event) => string | undefined;
  readonly reconcileStoredLaneKey?: (event: Event, stored: string, derived: string) => boolean;
  readonly shouldRecover?: (claimed: Event) => boolean | Promise<boolean>;
}

export function idOf(name: Named): string {
  const id = textOf(typeof name === 'string' ? name : name.id);
  if (id === undefined) throw new Error('an event of an ingress queue has no id');
  return id;
}

/** A value as JSON brings it back. */
export function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value) ?? 'null') as unknown);
}

export function tried(kept: Kept, at: number): Kept {
  return { ...kept, attempts: kept.attempts + 1, lastAttemptAt: at, updatedAt: at };
}

/** The lane of an event: the one that is kept, unless its plugin allows the one that it derives now. */
export function laneOf(event: Event, options: How): string | undefined {
  const stored = textOf(event['laneKey']);
  const derived = options.deriveLaneKey?.(event);
  if (stored === undefined || derived === undefined || derived === stored) return stored ?? derived;
  return options.reconcileStoredLaneKey?.(event, stored, derived) === true ? derived : stored;
}
