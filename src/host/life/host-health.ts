import type { ExtensionStatus } from '@sluice/sdk/extension';
import type { ErrorCode, KernelStats } from 'sluice-kernel';
import type { HostParts } from '../parts/parts.js';
import type { HostTrouble } from '../parts/troubles.js';
import type { PendingStart } from '../provided/pending-starts.js';

/** How a host is: names and numbers, no text of anybody. Plain data. */
export interface HostHealth {
  readonly state: HostState;
  /** Milliseconds since it was started; 0 before. */
  readonly uptimeMs: number;
  /** Messages that are being answered, or wait for it. */
  readonly messages: number;
  /** Turns that run. */
  readonly turns: number;
  readonly accounts: readonly {
    readonly channel: string;
    readonly accountId: string;
    /** It takes no messages in, and keeps no host running. */
    readonly sendsOnly?: true;
  }[];
  /** Those that could not be started yet, and are started again; absent if there are none. */
  readonly starting?: readonly PendingStart[];
  readonly extensions: readonly {
    readonly extensionId: string;
    readonly status: ExtensionStatus['status'];
    /** Why it is disabled, as an error code. */
    readonly code?: string;
  }[];
  /** Absent if the journal does not outlive the host. */
  readonly journal?: {
    /** Why it takes nothing in now, as an error code. */
    readonly code?: ErrorCode;
    /** Updates that it has refused since the host was made. */
    readonly refused: number;
  };
  /** All that an operator should look at, though it may well run. */
  readonly degraded: readonly HostTrouble[];
  /** The counts of its kernel, and which handlers were given up or are in quarantine. */
  readonly kernel: KernelStats;
}

/** Tells how a host is now. */
export function healthOf(
  parts: HostParts,
  state: HostState,
  { startedMonotonicMs }: { readonly startedMonotonicMs?: number },
): HostHealth {
  const { clock, room, turns, accounts, kernel, extensions, journal, counts } = parts;
  const problem = journal.problem();
  const pending = parts.pendingStarts.list();
  return {
    state,
    uptimeMs:
      startedMonotonicMs === undefined ? 0 : Math.round(clock.monotonicMs() - startedMonotonicMs),
    messages: room.size,
    turns: turns.runs.length,
    accounts: accounts.all().map(({ channel, accountId }) => ({
      channel: channel.id,
      accountId,
      ...(channel.capabilities.sendsOnly === true && { sendsOnly: true as const }),
    })),
    ...(pending.length > 0 && { starting: pending }),
    extensions: extensions.statuses.map(({ extensionId, status, error }) => ({
      extensionId,
      status,
      ...(error !== undefined && { code: error.code }),
    })),
    ...(parts.backlog.mayDefer && {
      journal: { refused: counts.refused, ...(problem !== undefined && { code: problem.code }) },
    }),
    degraded: parts.troubles.list(),
    kernel: kernel.stats(),
  };
}

/** The state of a host in its life. It starts once. */
export type HostState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';
