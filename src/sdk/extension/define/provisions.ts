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

/** The value of a kind that a layer above has declared; `never` in a program without that layer. */
export type Provided<Kind extends string> = Provisions extends { readonly [K in Kind]: infer Value }
  ? Value
  : never;
