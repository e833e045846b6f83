import type { LegacyHookName } from '../hooks/shapes.js';

/** A handler of a plugin hook, as `api.on` takes it. */
export interface LegacyHookRegistration {
  readonly pluginId: string;
  readonly hookName: LegacyHookName;
  /** What it returns is not trusted to be anything. */
  readonly handler: (event: never, ctx: never) => unknown;
  /** Higher runs first; 0 where unsaid. */
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
