import type { Clock, SluiceError } from '../../kernel/index.js';
import { gatewayError } from '../errors.js';
import type { ClientState } from './client-state.js';

/** How a connection stands. */
export interface Standing {
  readonly state: ClientState;
  /** Why the last attempt failed. */
  readonly problem: string | undefined;
  /** The gateway has answered the last attempt with a no. */
  readonly isRefused: boolean;
}

/** What is waited with. */
interface WaitOptions {
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Calls back whenever the standing changes. */
  readonly onChange: (check: () => void) => Disposable;
  readonly standing: () => Standing;
}

/** Waits until a connection stands. @throws SluiceError `gateway-unreachable`, `client-stopped`, `request-aborted`. */
export function untilReady(options: WaitOptions): Promise<void> {
  const { clock, timeoutMs, signal, onChange, standing } = options;
  return new Promise((resolve, reject) => {
    const settle = (error?: SluiceError): void => {
      listening[Symbol.dispose]();
      if (timer !== undefined) clock.clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const check = (): void => {
      const { state, isRefused, problem } = standing();
      if (state === 'connected') settle();
      else if (state === 'stopped') settle(gatewayError('client-stopped', {}));
      else if (state === 'idle') settle(unreachable('the client was not started'));
      else if (state === 'waiting' && isRefused) settle(unreachable(problem));
    };
    const onAbort = (): void => settle(gatewayError('request-aborted', { method: 'ready' }));
    const onTimeout = (): void =>
      settle(unreachable(standing().problem ?? `it has not answered for ${timeoutMs} ms`));
    const listening = onChange(check);
    const timer = timeoutMs === undefined ? undefined : clock.setTimeout(onTimeout, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    else check();
  });
}

function unreachable(problem: string | undefined): SluiceError {
  return gatewayError('gateway-unreachable', { problem: problem ?? 'it is not connected' });
}
