import type { Override, RawContribution } from '../contract/contribution.js';

/** The operator's changes, as a kernel is given them. */
export interface OperatorChanges {
  readonly overrides: Readonly<Record<string, Override>>;
  /** The ids of extensions of which each handler is audited. */
  readonly audit: readonly string[];
}

/**
 * The operator's changes to one contribution: its override and, if all of its extension is audited, audit mode. An observer
 * has nothing to audit: it is left out (judgement §3.7).
 */
export function overrideOf(
  { extensionId, id, class: name }: RawContribution,
  { overrides, audit }: OperatorChanges,
): Override {
  const key = `${extensionId}/${id}`;
  const own = Object.hasOwn(overrides, key) ? overrides[key] : undefined;
  if (!audit.includes(extensionId)) return own ?? noOverride;
  return name === 'observer' ? { ...own, disabled: true } : { ...own, mode: 'audit' };
}

const noOverride: Override = Object.freeze({});
