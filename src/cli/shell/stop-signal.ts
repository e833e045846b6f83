import { exitCodes } from './exit-codes.js';

/** Of the process, what stopping needs. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
}

/**
 * Listens for Ctrl-C and SIGTERM. The first aborts the signal, with its name as the reason: the command finishes
 * what it has begun. The second ends the process at once, whatever it is doing.
 *
 * @param interrupted is asked first where it is a Ctrl-C: `true` says that it was meant for something smaller than the
 *   command, which has been stopped. It then counts as neither.
 */
export function stopSignal(
  source: SignalSource,
  interrupted: () => boolean = () => false,
): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    source.on(name, () => {
      if (stop.signal.aborted) source.exit(exitCodes.interrupted);
      else if (name === 'SIGTERM' || !interrupted()) stop.abort(name);
    });
  return stop.signal;
}
