export { bridgeInternalHooks } from './bridge-internal-hooks.js';
export {
  createInternalHookEvent,
  type InternalHookEvent,
  type InternalHookHandler,
  type InternalHookType,
} from './event.js';
export type { InternalHookOptions, InternalHookStats, InternalHooks } from './internal-hooks.js';
export type { InternalHookContent, InternalHookRow, InternalHookSink, SourceStep } from './row.js';
export { internalHookRows } from './rows.js';
