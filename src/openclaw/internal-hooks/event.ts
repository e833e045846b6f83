/** The kinds of internal hook events that the legacy system fires. Handlers may register for any text. */
export type InternalHookType = 'command' | 'session' | 'agent' | 'gateway' | 'message';

/** An event of the internal hook bus. All handlers of one trigger share it, and may write to it. */
export interface InternalHookEvent {
  type: InternalHookType;
  /** The action that happened, such as `new` or `compact:before`. */
  action: string;
  sessionKey: string;
  /** Further data of the key. */
  context: Record<string, unknown>;
  timestamp: Date;
  /** Lines to answer the source with; handlers push them. */
  messages: string[];
}

/** A handler of the internal hook bus. Awaited; what it throws is logged. */
export type InternalHookHandler = (event: InternalHookEvent) => Promise<void> | void;

/**
 * Makes an event, as the legacy function of that name does.
 *
 * @param now milliseconds since 1970; the time of the platform by default.
 * @example
 * createInternalHookEvent('command', 'new', 'agent:main:main', { commandSource: 'telegram' });
 */
export function createInternalHookEvent(
  type: InternalHookType,
  action: string,
  sessionKey: string,
  context: Record<string, unknown> = {},
  now: number = Date.now(),
): InternalHookEvent {
  return { type, action, sessionKey, context, timestamp: new Date(now), messages: [] };
}
