import type { Envelope } from 'sluice-kernel';

/**
 * Returns whether a dispatch repeats an event that a legacy host told one of its buses: its metadata then name the hook
 * (`legacyHook`) or the bus (`legacyBus`). Such a host tells its other buses itself.
 */
export function isOfLegacyHost({ metadata }: Pick<Envelope, 'metadata'>): boolean {
  return 'legacyHook' in metadata || 'legacyBus' in metadata;
}
