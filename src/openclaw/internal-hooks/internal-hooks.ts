import type { Clock, Logger } from 'sluice-kernel';
import type { InternalHookEvent, InternalHookHandler, InternalHookType } from './event.js';

/** How the internal hook bus is bridged. */
export interface InternalHookOptions {
  /** The extension that its handlers are contributed as; `internal-hooks` by default. */
  readonly extensionId?: string;
  /** Hears `Hook error [type:action]`, with what was thrown in the field `error` (spec §20.3). */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /**
   * Milliseconds that a handler may take where its caller waits; 60,000 by default. The legacy bus waits for ever.
   */
  readonly handlerTimeoutMs?: number;
}

/** The counts of a bridge. */
export interface InternalHookStats {
  /** Handlers that are registered now. */
  readonly handlers: number;
  readonly triggered: number;
  /** Triggers that became a canonical dispatch. */
  readonly dispatched: number;
  /** Triggers of a fact that another legacy bus had announced. */
  readonly joined: number;
  /** Triggers that no family is for: their handlers were called, and nobody else heard of them. */
  readonly carried: number;
  /** Triggers that were carried because their context does not fit their family. */
  readonly misfits: number;
  readonly failures: number;
}

/** The internal hook bus of the legacy system, on the pipeline: a source and a sink of canonical events. */
export interface InternalHooks extends Disposable {
  /**
   * Registers a handler for a type (`command`) or for one action of it (`command:new`). The same handler registered
   * twice is called twice.
   *
   * @param owner names whose it is in contribution ids, such as a plugin; no blanks, no slashes.
   */
  registerInternalHook(eventKey: string, handler: InternalHookHandler, owner?: string): void;
  /** Takes the first registration of a handler for a key back. */
  unregisterInternalHook(eventKey: string, handler: InternalHookHandler): void;
  clearInternalHooks(): void;
  /** The keys that have handlers, in the order in which they first had. */
  getRegisteredEventKeys(): string[];
  /**
   * Fires an event: dispatches the canonical event of its key, in which its handlers take part. Resolves to nothing
   * when every handler has settled, and never rejects for what a handler does. Replies of others are added to
   * `event.messages`.
   */
  triggerInternalHook(event: InternalHookEvent): Promise<void>;
  createInternalHookEvent(
    type: InternalHookType,
    action: string,
    sessionKey: string,
    context?: Record<string, unknown>,
  ): InternalHookEvent;
  stats(): InternalHookStats;
}
