import { exitCodes } from './exit-codes.js';

/** The parts of the process that a stop needs. */
interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
}

/**
 * Listens for Ctrl-C and SIGTERM. The first aborts the signal, with its name as the reason: the command finishes the work
 * that it has begun. The second ends the process at once.
 *
 * @param interrupted is asked first about a Ctrl-C: `true` says that it has stopped something smaller than the command.
 *   Such a Ctrl-C counts as neither.
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
