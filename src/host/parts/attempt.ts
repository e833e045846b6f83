import type { HostParts } from './parts.js';

/** One step of a stop: whatever it does, the next one follows. */
export async function attempt(
  { logger }: Pick<HostParts, 'logger'>,
  what: string,
  step: () => Promise<unknown>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    logger.error(`${what} failed`, { error });
  }
}
