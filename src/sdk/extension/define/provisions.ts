/**
 * The things that extensions can give their host besides handlers, by kind: a channel, an agent, a chat command. A layer above
 * adds its own kinds by declaration merging.
 *
 * @example
 * declare module 'sluice' {
 *   interface Provisions { 'acme.metric': { read(): number } }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: open to merging, which only an interface is
export interface Provisions {}

/** A kind of thing that `api.provide` takes. */
export type ProvisionKind = keyof Provisions & string;

/** A thing that an extension has given, with its kind. */
export interface Provision {
  readonly kind: string;
  readonly value: unknown;
}

/** Names a provision for people, by its id or its name if it has one. */
export function labelOf({ kind, value }: Provision): string {
  const { id, name } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly id?: unknown;
    readonly name?: unknown;
  }; // read field by field
  const called = [id, name].find((text) => typeof text === 'string');
  return called === undefined ? kind : `${kind} ${String(called)}`;
}
