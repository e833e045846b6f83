import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Context, context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';

/** The part of a request of `fetch` that Node tells of. */
interface OutgoingRequest {
  readonly headers?: string | readonly string[];
  addHeader(name: string, value: string): void;
}

/** The context that a request came with. */
export function incomingContext({ headers }: Request): Context {
  return propagation.extract(ROOT_CONTEXT, Object.fromEntries(headers));
}

/** Sends the context that is active along with each request of `fetch`, unless somebody else has. */
export function sendContext(): Disposable {
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: OutgoingRequest }; // of undici's channel
    if (String(request.headers).toLowerCase().includes('traceparent')) return;
    const carrier: Record<string, string> = {};
    propagation.inject(context.active(), carrier);
    for (const [name, value] of Object.entries(carrier)) request.addHeader(name, value);
  };
  subscribe('undici:request:create', onRequest);
  return { [Symbol.dispose]: () => void unsubscribe('undici:request:create', onRequest) };
}
