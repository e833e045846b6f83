/**
 * The things that an extension says of itself before its setup runs, by kind. Plain data: a program can read it from the
 * imported module. A layer above adds its own kinds by declaration merging, as for `Provisions`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open to merging, which only an interface is
export interface Declarations {}
