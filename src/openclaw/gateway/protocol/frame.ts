import { definedFields } from 'sluice-kernel/internal';
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
  /** Its number among what this gateway broadcasts; absent if it was meant for some connections only. */
  seq: Type.Optional(Type.Integer()),
});

const isResponse = Compile(responseFrame);
const isEvent = Compile(eventFrame);

/** An answer to a request. */
export type ResponseFrame = Static<typeof responseFrame>;

/** Something that the gateway tells. */
export type GatewayEvent = Static<typeof eventFrame>;

/**
 * The reading of a text from the gateway. `malformed`: no frame. `unknown`: a frame of a type that clients do not get.
 */
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

/** A gateway's reason for an answer with `ok: false`. */
export interface Refusal {
  /** NOT_PAIRED, INVALID_REQUEST, UNAVAILABLE, ..., or of a handshake AUTH_TOKEN_MISMATCH and the like. */
  readonly code: string;
  readonly message: string;
  /** It says that the same request may soon be taken, as a gateway does that is starting. */
  readonly isTemporary: boolean;
  /** The protocol that the gateway wants, if the client speaks none that it takes. `unnamed` if it does not say which. */
  readonly protocol?: number | 'unnamed';
}

/** Reads the error of an answer, whatever shape it has. */
export function refusalOf(error: unknown): Refusal {
  const { code, message, details, retryable }: Record<string, unknown> = Object(error);
  const { code: detail, expectedProtocol }: Record<string, unknown> = Object(details);
  const named = typeof expectedProtocol === 'number' ? expectedProtocol : undefined;
  const protocol = named ?? (detail === 'PROTOCOL_MISMATCH' ? ('unnamed' as const) : undefined);
  return {
    code: textIn(detail) ?? textIn(code) ?? 'UNKNOWN',
    message: textIn(message) ?? 'it gives no reason',
    isTemporary: retryable === true,
    ...definedFields({ protocol }),
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
