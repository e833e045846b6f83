import type { HostParts } from './parts.js';
import { callWithin } from './within-time.js';

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

/** As `attempt`, and waits for it no longer than a time: then it is left. @param timeoutMs no end where it is undefined. */
export async function attemptWithin(
  parts: Pick<HostParts, 'logger' | 'clock'>,
  timeoutMs: number | undefined,
  what: string,
  step: () => Promise<unknown>,
): Promise<void> {
  const { status } = await callWithin(() => attempt(parts, what, step), parts.clock, timeoutMs);
  if (status === 'late')
    parts.logger.error(`${what} has not ended after ${timeoutMs} ms; it is left`);
}
