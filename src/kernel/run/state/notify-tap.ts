import { isThenable, whenSettled } from '../../value/thenable.js';
import type { Services, Tap, TapEntry } from '../services/services.js';

/** Calls a listener of each tap. What one throws, or rejects with later, is logged and changes nothing (spec §12.2). */
export function notifyTap(services: Services, name: keyof Tap, call: (tap: Tap) => unknown): void {
  const { entries } = services.taps;
  if (entries === undefined) return;
  for (const entry of entries)
    if (entry.tap[name] !== undefined) report(services, entry, name, call);
}

function report(
  { logger }: Services,
  { tap, extensionId }: TapEntry,
  name: keyof Tap,
  call: (tap: Tap) => unknown,
): void {
  const failed = (error: unknown): void =>
    logger.error(`tap.${name} failed`, {
      ...(extensionId !== undefined && { extensionId }),
      error,
    });
  try {
    const result = call(tap);
    if (typeof result === 'object' && result !== null && isThenable(result))
      whenSettled(result, () => undefined, failed);
  } catch (thrown) {
    failed(thrown);
  }
}
