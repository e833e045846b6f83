import type { CanonicalFamilies } from '../catalog/index.js';
import type { HandlerClass } from '../stage/vocabulary.js';

/**
 * Every family that the types know: the canonical ones, and yours, by declaration merging.
 *
 * @example
 * declare module 'sluice' { // or 'sluice-kernel': the one name that your program imports it by
 *   interface Families { 'acme.billing.checking': StageTypes<typeof billingChecking> }
 * }
 */
export interface Families extends CanonicalFamilies {}

/** A family's name. */
export type FamilyName = keyof Families & string;

/** The payload of a family. */
export type PayloadOf<F extends FamilyName> = Families[F]['payload'];
/** The patch that a mutator of a family may return. */
export type PatchOf<F extends FamilyName> = Families[F]['patch'];
/** The annotations that an augmenter of a family may return. */
export type AnnotationsOf<F extends FamilyName> = Families[F]['annotations'];
/** The target that a resolver of a family may select. */
export type SelectionOf<F extends FamilyName> = Families[F]['selection'];
/** The codes that a veto of a family may cancel with. */
export type CancelCodeOf<F extends FamilyName> = Families[F]['cancelCodes'];
/** `true` if a cancel of a family may carry a reply to the sender of the message. */
export type CancelRepliesOf<F extends FamilyName> = Families[F]['cancelReplies'];
/** `true` if handlers of a family see on whose behalf it is dispatched. */
export type PrincipalsOf<F extends FamilyName> = Families[F]['principal'];
/** `true` if a veto of a family may ask a human. */
export type AsksOf<F extends FamilyName> = Families[F]['asks'];
/** The handler classes that a family's stage allows. */
export type ClassOf<F extends FamilyName> = Families[F]['classes'];
/** The execution mode of a family's stage. */
export type ModeOf<F extends FamilyName> = Families[F]['mode'];

/** The families whose stage allows a handler class: what `api.veto` and its siblings take. */
export type FamilyAllowing<C extends HandlerClass> = {
  [F in FamilyName]: C extends ClassOf<F> ? F : never;
}[FamilyName];

/** The families whose vetoes may ask a human. */
export type AskingFamily = {
  [F in FamilyName]: AsksOf<F> extends true ? F : never;
}[FamilyName];

/** The families that run in the caller's stack, through `dispatchSync`. */
export type SyncFamily = {
  [F in FamilyName]: ModeOf<F> extends 'sync-sequential' ? F : never;
}[FamilyName];

/** The families that are dispatched asynchronously, through `dispatch`. */
export type AsyncFamily = Exclude<FamilyName, SyncFamily>;
