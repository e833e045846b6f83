import { type Clock, deferred, onAbort, type SluiceError, Timer } from 'sluice-kernel/internal';
import { gatewayError } from '../errors.js';
import type { ClientState, RequestOptions } from './client-state.js';

/** How a connection stands. */
export interface Standing {
  readonly state: ClientState;
  /** Why the last connection was lost, or did not come about. */
  readonly problem: string | undefined;
  /** The gateway has answered the last attempt with a no, to this client or to its protocols: another one will not help. */
  readonly refused: 'client' | 'protocol' | undefined;
}

interface WaitOptions extends RequestOptions {
  readonly clock: Clock;
  /** Calls back whenever the standing changes. */
  readonly onChange: (check: () => void) => Disposable;
  readonly standing: () => Standing;
}

/**
 * Waits until a connection stands.
 *
 * @throws SluiceError `gateway-unreachable`, `gateway-protocol`, `client-stopped`, `request-aborted`.
 */
export async function untilReady(options: WaitOptions): Promise<void> {
  const { clock, timeoutMs, signal, onChange, standing } = options;
  const { promise, resolve, reject } = deferred();
  const check = (): void => {
    const { state, refused, problem = 'it is not connected' } = standing();
    if (state === 'connected') resolve();
    else if (state === 'stopped') reject(gatewayError('client-stopped', {}));
    else if (state === 'idle') reject(unreachable('the client was not started'));
    else if (state === 'waiting' && refused === 'protocol')
      reject(gatewayError('gateway-protocol', { problem }));
    else if (state === 'waiting' && refused !== undefined) reject(unreachable(problem));
  };
  using _listening = onChange(check);
  using timer = new Timer(clock);
  timer.set(timeoutMs, () =>
    reject(unreachable(standing().problem ?? `it has not answered for ${timeoutMs} ms`)),
  );
  using _abort = onAbort(signal, () =>
    reject(gatewayError('request-aborted', { method: 'ready' })),
  );
  check();
  await promise;
}

function unreachable(problem: string | undefined): SluiceError {
  return gatewayError('gateway-unreachable', { problem: problem ?? 'it is not connected' });
}
