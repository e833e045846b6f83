import { agentHooks } from '../hooks/agent.js';
import { gatewayHooks } from '../hooks/gateway.js';
import { messageHooks } from '../hooks/message.js';
import { promptHooks } from '../hooks/prompt.js';
import type { LegacyHookKind, LegacyHookRow } from '../hooks/row.js';
import { sessionHooks } from '../hooks/session.js';
import { subagentHooks } from '../hooks/subagent.js';
import { toolHooks } from '../hooks/tool.js';
import { transcriptHooks } from '../hooks/transcript.js';
import { lifecycleHooks9, wayHooks9 } from './lifecycle.js';
import { messageHooks9 } from './message.js';
import { promptHooks9 } from './prompt.js';
import { toolHooks9 } from './tool.js';
import { turnHooks9 } from './turn.js';

const { subagent_spawning: _, ...subagents } = subagentHooks;

/** The hooks of profile 2026.9. */
const later = {
  ...promptHooks9,
  ...turnHooks9,
  ...wayHooks9,
  ...messageHooks9,
  ...toolHooks9,
  ...transcriptHooks,
  ...sessionHooks,
  ...subagents,
  ...lifecycleHooks9,
};

/** The plugin hooks of each profile, a row each. Equal rows are one object. */
export const profiles = {
  '2026.3': {
    ...promptHooks,
    ...agentHooks,
    ...messageHooks,
    ...toolHooks,
    ...transcriptHooks,
    ...sessionHooks,
    ...subagentHooks,
    ...gatewayHooks,
  },
  '2026.9': later,
};

type Profiles = typeof profiles;

/** A release of OpenClaw whose hooks the bridge has, as the first two numbers of its version. */
export type LegacyProfile = keyof Profiles;

/**
 * Every plugin hook of a profile with its kind and the types of its event, its context and its result (`undefined` if nothing is
 * read), as its row says them.
 *
 * @example
 * const veto = (event: LegacyHooks['message_sending']['event']) => ({ cancel: event.content === '' });
 */
export type LegacyHooks<P extends LegacyProfile = '2026.3'> = {
  readonly [H in keyof Profiles[P]]: Profiles[P][H] extends { readonly '~shape'?: infer Shape }
    ? NonNullable<Shape>
    : never;
};

/** The name of a plugin hook of a profile; of all profiles: `LegacyHookName<LegacyProfile>`. */
export type LegacyHookName<P extends LegacyProfile = '2026.3'> = {
  [Q in P]: keyof LegacyHooks<Q> & string;
}[P];

/** A hook of a profile that no legacy runner calls (event-pipeline §17.30). */
export type HostedHookName<P extends LegacyProfile> = {
  [H in keyof Profiles[P]]: Profiles[P][H] extends { readonly isHosted: true } ? H : never;
}[keyof Profiles[P]];

type Part<H, P extends LegacyProfile, Name> = H extends keyof LegacyHooks<P>
  ? Name extends keyof LegacyHooks<P>[H]
    ? LegacyHooks<P>[H][Name]
    : never
  : never;

/** The first argument of a hook's handlers. */
export type LegacyEvent<
  H extends string = LegacyHookName,
  P extends LegacyProfile = '2026.3',
> = Part<H, P, 'event'>;

/** The second argument of a hook's handlers. */
export type LegacyContext<
  H extends string = LegacyHookName,
  P extends LegacyProfile = '2026.3',
> = Part<H, P, 'ctx'>;

/** The result of a hook. */
export type LegacyResult<
  H extends string = LegacyHookName,
  P extends LegacyProfile = '2026.3',
> = Part<H, P, 'result'>;

/**
 * The plugin hooks of each profile by name, in that order.
 *
 * @example
 * const used = legacyHookNames['2026.9'].filter((hook) => runner.hasHooks(hook));
 */
export const legacyHookNames: { readonly [P in LegacyProfile]: readonly LegacyHookName<P>[] } = {
  '2026.3': namesOf('2026.3'),
  '2026.9': namesOf('2026.9'),
};

function namesOf<P extends LegacyProfile>(profile: P): readonly LegacyHookName<P>[] {
  return Object.keys(profiles[profile]) as LegacyHookName<P>[]; // the keys of its table
}

/** The rows of a profile, whatever the types of their events. */
export function rowsOf(profile: LegacyProfile): Readonly<Record<string, LegacyHookRow>> {
  return profiles[profile];
}

/** Returns whether a profile has a hook of a name. */
export function isHookOf(
  profile: LegacyProfile,
  name: unknown,
): name is LegacyHookName<LegacyProfile> {
  return typeof name === 'string' && Object.hasOwn(profiles[profile], name);
}

/** The plugin hooks of some kinds of a profile, in that order. */
export function legacyHooksOf<P extends LegacyProfile>(
  profile: P,
  ...kinds: readonly LegacyHookKind[]
): readonly LegacyHookName<P>[] {
  const rows = rowsOf(profile);
  return legacyHookNames[profile].filter((hook) => {
    const row = rows[String(hook)];
    return row !== undefined && kinds.includes(row.kind);
  });
}
