import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** Counts the calls that this process makes to a server, from the moment they are written until they are over. */
export interface CallsMade extends Disposable {
  readonly open: number;
}

export function callsMadeTo(port: number): CallsMade {
  const started = 'http.client.request.start';
  let open = 0;
  const onStart = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest }; // as Node documents this channel
    if (request.getHeader('host') !== `127.0.0.1:${port}`) return;
    open++;
    request.once('close', () => open--);
  };
  subscribe(started, onStart);
  return {
    get open() {
      return open;
    },
    [Symbol.dispose]: () => void unsubscribe(started, onStart),
  };
}
