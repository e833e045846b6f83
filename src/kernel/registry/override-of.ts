import type { Override, RawContribution } from '../contract/contribution.js';
import { kernelError } from '../errors.js';
import { handlerModes } from '../stage/vocabulary.js';
import { didYouMean } from '../value/nearest.js';

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

/**
 * Checks that an override has the fields of one, with values that can be used.
 *
 * @throws SluiceError `bad-option`.
 */
export function checkOverride(key: string, override: Override): void {
  const refuse = (problem: string): never => {
    throw kernelError('bad-option', { option: `overrides["${key}"]`, problem });
  };
  if (!/^.+\/[^/]+$/.test(key)) refuse('its name must be extension/contribution');
  const fields = ['disabled', 'priority', 'timeoutMs', 'match', 'mode'];
  for (const field of Object.keys(override)) {
    if (fields.includes(field)) continue;
    refuse(`it has no field "${field}"${didYouMean(field, fields)}`);
  }
  const { disabled = false, priority = 0, timeoutMs = 1 } = override;
  if (override.mode !== undefined && !handlerModes.includes(override.mode))
    refuse(`mode must be one of ${handlerModes.join(', ')}`);
  if (typeof disabled !== 'boolean') refuse('disabled must be true or false');
  if (!Number.isFinite(priority)) refuse('priority must be a finite number');
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0))
    refuse('timeoutMs must be a positive number of milliseconds');
}
