import type { ExtensionStatus } from '../../extension/index.js';
import { hasGrant, nearest } from '../../kernel/index.js';
import type { Settings } from '../settings/settings.js';
import type { Finding } from './finding.js';

type GrantSettings = Pick<Settings, 'grants' | 'leastPrivilege'>;

/** Looks at who asks for which grant, and who has which. What is refused outright is an extension that is disabled. */
export function checkGrants(
  settings: GrantSettings,
  statuses: readonly Pick<ExtensionStatus, 'extensionId' | 'manifest'>[],
  pluginIds: readonly string[],
): Finding[] {
  const ids = statuses.map(({ extensionId }) => extensionId); // also of those that lack a grant
  return [
    ...lostGrants(settings, [...ids, ...pluginIds]),
    ...statuses.flatMap((status) => askedGrants(settings, status)),
  ];
}

/** What an extension asks for in its manifest, and does not have. Asking grants nothing. */
function askedGrants(
  { grants, leastPrivilege }: GrantSettings,
  { extensionId, manifest }: Pick<ExtensionStatus, 'extensionId' | 'manifest'>,
): Finding[] {
  const asked = manifest?.grants ?? [];
  const held = grants[extensionId] ?? [];
  const missing = asked.filter((one) => !hasGrant(held, one, leastPrivilege));
  if (asked.length === 0) return [];
  if (missing.length === 0) {
    const what = `asks for ${asked.join(', ')}, and may`;
    return [{ severity: 'ok', check: 'grants', what, whose: extensionId }];
  }
  return [
    {
      severity: 'warning',
      check: 'grants',
      what: `asks for ${missing.join(', ')}, and is not granted that`,
      whose: extensionId,
      hint: `If it should, write in the config: "grants": { "${extensionId}": ${JSON.stringify(missing)} }.`,
    },
  ];
}

/** Grants for extensions that are not there: a misspelt id leaves the extension without what it was to have. */
function lostGrants({ grants }: GrantSettings, extensionIds: readonly string[]): Finding[] {
  const ids = Object.keys(grants);
  const lost = ids.filter((id) => !extensionIds.includes(id));
  return lost.map((id): Finding => {
    const close = nearest(id, extensionIds);
    return {
      severity: 'warning',
      check: 'grants',
      what: `"grants" names "${id}", and no such extension is loaded`,
      whose: id,
      hint: close === undefined ? 'Remove it, or load the extension.' : `Did you mean "${close}"?`,
    };
  });
}
