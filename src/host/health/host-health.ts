import type { ExtensionStatus } from '../../extension/index.js';
import type { KernelStats } from '../../kernel/index.js';
import type { HostState } from '../host-state.js';
import type { HostParts } from '../parts.js';

/** How a host is: names and numbers, no text of anybody. Plain data. */
export interface HostHealth {
  readonly state: HostState;
  /** Milliseconds since it was started; 0 before. */
  readonly uptimeMs: number;
  /** Messages that are being answered, or wait for it. */
  readonly messages: number;
  /** Turns that run. */
  readonly turns: number;
  readonly accounts: readonly { readonly channel: string; readonly accountId: string }[];
  readonly extensions: readonly {
    readonly extensionId: string;
    readonly status: ExtensionStatus['status'];
    /** Why it is disabled, as an error code. */
    readonly code?: string;
  }[];
  /** What its kernel has counted, and which handlers were given up or are in quarantine. */
  readonly kernel: KernelStats;
}

/** What is known of a host where it is now. */
export function healthOf(
  parts: HostParts,
  state: HostState,
  { startedAtMs }: { startedAtMs?: number },
): HostHealth {
  const { clock, conversationLanes, turns, accounts, kernel, extensions } = parts;
  return {
    state,
    uptimeMs: startedAtMs === undefined ? 0 : Math.max(0, clock.now() - startedAtMs),
    messages: conversationLanes.jobs,
    turns: turns.runs.length,
    accounts: accounts.offered(),
    extensions: extensions.statuses.map(({ extensionId, status, error }) => ({
      extensionId,
      status,
      ...(error !== undefined && { code: error.code }),
    })),
    kernel: kernel.stats(),
  };
}
