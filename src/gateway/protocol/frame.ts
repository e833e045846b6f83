import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';

/** An answer to a request, as it comes. */
const responseFrame = Type.Object({
  type: Type.Literal('res'),
  id: Type.String(),
  ok: Type.Boolean(),
  payload: Type.Optional(Type.Unknown()),
  error: Type.Optional(Type.Unknown()),
});

/** An event, as it comes. */
const eventFrame = Type.Object({
  type: Type.Literal('event'),
  event: Type.String(),
  payload: Type.Optional(Type.Unknown()),
  /** Its number among what this gateway broadcasts; absent where it was meant for some connections only. */
  seq: Type.Optional(Type.Integer()),
});

const isResponse = Compile(responseFrame);
const isEvent = Compile(eventFrame);

/** An answer to a request. */
export type ResponseFrame = Static<typeof responseFrame>;

/** Something that the gateway tells. */
export type GatewayEvent = Static<typeof eventFrame>;

/** What a text from the gateway is. `malformed`: no frame. `unknown`: a frame of a type that clients do not get. */
export type ReadFrame =
  | { readonly kind: 'response'; readonly frame: ResponseFrame }
  | { readonly kind: 'event'; readonly frame: GatewayEvent }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

/** Reads a text of the gateway. Fields that nobody declared are let through: newer gateways have more. */
export function readFrame(text: string): ReadFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'malformed' };
  }
  if (isResponse.Check(value)) return { kind: 'response', frame: value };
  if (isEvent.Check(value)) return { kind: 'event', frame: value };
  const type: unknown = Object(value).type;
  const isForeign = typeof type === 'string' && type !== 'res' && type !== 'event';
  return isForeign ? { kind: 'unknown' } : { kind: 'malformed' };
}

/** A request, as it is sent. */
export function requestText(id: string, method: string, params: unknown): string {
  return JSON.stringify({ type: 'req', id, method, params });
}
