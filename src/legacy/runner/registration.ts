import type { LegacyContext, LegacyEvent, LegacyHookName } from '../hooks/index.js';

/** A handler of a plugin hook, as `api.on` takes it. */
export interface LegacyHookRegistration<H extends LegacyHookName = LegacyHookName> {
  readonly pluginId: string;
  readonly hookName: H;
  /** Its result may be anything. */
  handler(event: LegacyEvent<H>, ctx: LegacyContext<H>): unknown;
  /** Higher runs first; 0 by default. */
  readonly priority?: number;
  /** The file that it comes from. */
  readonly source?: string;
}

/** A registered handler, in the order in which its plugin registered it. */
export interface Registered extends Omit<LegacyHookRegistration, 'handler'> {
  /** The plugin's handler: what it makes of an event is its answer. */
  readonly answer: LegacyHookRegistration['handler'];
  /** The plugin's registrations counted from 0, zero-padded: ties inside a plugin keep their order. */
  readonly index: string;
}
