import { nearest } from '../../kernel/index.js';
import type { Settings } from '../settings.js';
import type { Finding } from './finding.js';

/** Grants for extensions that are not there: a misspelt id leaves the extension without what it was to have. */
export function checkGrants(
  { grants }: Pick<Settings, 'grants'>,
  extensionIds: readonly string[],
): Finding[] {
  const ids = Object.keys(grants);
  const lost = ids.filter((id) => !extensionIds.includes(id));
  const findings = lost.map((id): Finding => {
    const close = nearest(id, extensionIds);
    return {
      severity: 'warning',
      check: 'grants',
      what: `"grants" names "${id}", and no such extension is loaded`,
      whose: id,
      hint: close === undefined ? 'Remove it, or load the extension.' : `Did you mean "${close}"?`,
    };
  });
  if (ids.length > 0 && findings.length === 0)
    findings.push({ severity: 'ok', check: 'grants', what: `${ids.join(', ')}: granted` });
  return findings;
}
