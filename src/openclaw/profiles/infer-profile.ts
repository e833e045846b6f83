import { isHookOf, type LegacyProfile, legacyHookNames } from './index.js';

/** The signs of the OpenClaw of a plugin, before its code runs. Versions and ranges are as npm writes them. */
export interface ProfileSigns {
  /** The version that the plugin was built with. */
  readonly builtWith?: string | undefined;
  /** The versions that it asks for. */
  readonly asksFor?: string | undefined;
  /** The OpenClaw that the operator names, or that lies beside the plugin. */
  readonly openclaw?: string | undefined;
  /** The text of its entry file. */
  readonly entry: () => string;
}

/** A profile, and the reason if it is a guess. */
export interface InferredProfile {
  readonly profile: LegacyProfile;
  /** The words of the entry that only this profile has. */
  readonly guessedFrom?: string;
}

/**
 * The profile of a plugin (event-pipeline §17.27): that of what it was built with; else the later one of the OpenClaw that runs
 * it and of the versions that it asks for; else that which alone has the hooks of its entry; else `2026.3`.
 */
export function inferProfile({
  builtWith,
  asksFor,
  openclaw,
  entry,
}: ProfileSigns): InferredProfile {
  const built = profileIn(builtWith);
  if (built !== undefined) return { profile: built };
  const runsIn = profileIn(openclaw);
  if (runsIn === '2026.9' || profileIn(asksFor) === '2026.9') return { profile: '2026.9' };
  if (runsIn !== undefined) return { profile: runsIn };
  const later = hooksIn(entry()).find((hook) => !isHookOf('2026.3', hook));
  return later === undefined
    ? { profile: '2026.3' }
    : { profile: '2026.9', guessedFrom: `hook "${later}"` };
}

/** The profile other than the one that is given, if it has a hook. */
export function otherProfileWith(hook: string, profile: LegacyProfile): LegacyProfile | undefined {
  const other = profile === '2026.3' ? '2026.9' : '2026.3';
  return isHookOf(other, hook) ? other : undefined;
}

/** The last profile that is not newer than a version, or than the first one of a range. */
function profileIn(version: string | undefined): LegacyProfile | undefined {
  const [, year, month] = /(20\d\d)\.(\d+)/.exec(version ?? '') ?? [];
  if (year === undefined || month === undefined) return undefined;
  return Number(year) * 100 + Number(month) >= 202_609 ? '2026.9' : '2026.3';
}

/** The hooks of profile 2026.9 that a text registers by their names. */
function hooksIn(text: string): readonly string[] {
  const registered = [...text.matchAll(/\bon\(\s*["'`](\w+)["'`]/g)].map(([, hook]) => hook);
  return legacyHookNames['2026.9'].filter((hook) => registered.includes(hook));
}
