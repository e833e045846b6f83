/** The shapes in which the gateways of one protocol tell of runs, as far as protocols differ. */
export interface ProtocolShapes {
  /** `chat` events hold every message of a run. If not, a text before a tool call may come as an `agent` event alone. */
  readonly hasWholeChats: boolean;
  /** The numbers of a run's `agent` events have no holes, so that a hole is a loss. */
  readonly numbersAll: boolean;
  /** The welcome says which scopes the client has. If not, a client without a device has none. */
  readonly tellsScopes: boolean;
}

const shapes3: ProtocolShapes = {
  hasWholeChats: true,
  numbersAll: true,
  tellsScopes: false,
};

/** The protocols that this client speaks: 3 is that of OpenClaw 2026.3, 4 that of OpenClaw 2026.9. */
const protocols: ReadonlyMap<number, ProtocolShapes> = new Map([
  [3, shapes3],
  [4, { hasWholeChats: false, numbersAll: false, tellsScopes: true }],
]);

/** The lowest protocol that this client speaks. */
export const minProtocol = Math.min(...protocols.keys());

/** The highest protocol that this client speaks. */
export const maxProtocol = Math.max(...protocols.keys());

/** Returns whether this client speaks a protocol. */
export function isSpoken(protocol: number): boolean {
  return protocols.has(protocol);
}

/** The shapes of a protocol that this client speaks. */
export function shapesOf(protocol: number): ProtocolShapes {
  return protocols.get(protocol) ?? shapes3;
}
