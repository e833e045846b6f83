import { isThenable, whenSettled } from '../../value/thenable.js';
import type { Services, Tap } from '../services/services.js';

/** Calls a listener of the tap. What it throws, or rejects with later, is logged and changes nothing (spec §12.2). */
export function tellTap(
  { tap, logger }: Services,
  name: keyof Tap,
  call: (tap: Tap) => unknown,
): void {
  if (tap?.[name] === undefined) return;
  const failed = (thrown: unknown): void => logger.error(`tap.${name} failed`, { error: thrown });
  try {
    const result = call(tap);
    if (typeof result === 'object' && result !== null && isThenable(result))
      whenSettled(result, () => undefined, failed);
  } catch (thrown) {
    failed(thrown);
  }
}
