import type { HandlerClass } from '../stage/vocabulary.js';

/**
 * Puts something around each handler, when it is contributed: to time it, or to know it again. It must return what the
 * handler returns.
 */
export type Instrument = (
  handler: (call: unknown, own: unknown) => unknown,
  of: {
    readonly extensionId: string;
    readonly contributionId: string;
    readonly family: string;
    readonly class: HandlerClass;
  },
) => (call: unknown, own: unknown) => unknown;
