import { exitCodes } from './exit-codes.js';

/** Of the process, what stopping needs. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
}

/**
 * Listens for Ctrl-C and SIGTERM. The first aborts the signal, with its name as the reason: the command finishes
 * what it has begun. The second ends the process at once, whatever it is doing.
 */
export function stopSignal(source: SignalSource): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    source.on(name, () => {
      if (stop.signal.aborted) source.exit(exitCodes.interrupted);
      else stop.abort(name);
    });
  return stop.signal;
}
