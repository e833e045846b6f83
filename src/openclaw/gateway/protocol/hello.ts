import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';

const challenge = Type.Object({ nonce: Type.String({ minLength: 1 }) });

const hello = Type.Object({
  type: Type.Literal('hello-ok'),
  protocol: Type.Integer(),
  server: Type.Optional(
    Type.Object({ version: Type.Optional(Type.String()), connId: Type.Optional(Type.String()) }),
  ),
  auth: Type.Optional(Type.Object({ scopes: Type.Optional(Type.Array(Type.String())) })),
  snapshot: Type.Optional(Type.Object({ uptimeMs: Type.Optional(Type.Number({ minimum: 0 })) })),
  policy: Type.Optional(
    Type.Object({
      maxPayload: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
      tickIntervalMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    }),
  ),
});

const isChallenge = Compile(challenge);
const isHello = Compile(hello);

/** The welcome of a gateway that lets a client in. */
export type Hello = Static<typeof hello>;

/** The nonce of a `connect.challenge`. */
export function nonceOf(payload: unknown): string | undefined {
  return isChallenge.Check(payload) ? payload.nonce : undefined;
}

/** Reads the answer to `connect`, of whatever protocol; nothing if it is none. */
export function readHello(payload: unknown): Hello | undefined {
  return isHello.Check(payload) ? payload : undefined;
}
