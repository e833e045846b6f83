import type { ObjectSchema } from '../schema/schema.js';
import type { ValueOf } from './named.js';
import type { Stage } from './stage.js';
import type { ExecutionMode, HandlerClass } from './vocabulary.js';

/** The types that a family's row gives its handlers. */
export interface FamilyShape {
  readonly classes: HandlerClass;
  readonly mode: ExecutionMode;
  readonly payload: object;
  readonly patch: object;
  readonly annotations: object;
  readonly selection: unknown;
  readonly cancelCodes: string;
  readonly cancelReplies: boolean;
  readonly principal: boolean;
  readonly asks: boolean;
}

/**
 * The entry of `Families` for a stage.
 *
 * @example
 * declare module 'sluice' { // or 'sluice-kernel': the one name that your program imports it by
 *   interface Families { 'acme.billing.checking': StageTypes<typeof billingChecking> }
 * }
 */
export interface StageTypes<
  T extends Stage,
  P extends object = FieldsOf<T['payload']>,
  Q extends object = FieldsOf<T['patch']>,
> {
  readonly classes: T['classes'][number];
  readonly mode: T['mode'];
  readonly payload: P;
  readonly patch: Q;
  readonly annotations: FieldsOf<T['annotations']>;
  readonly selection: ValueOf<NonNullable<T['selection']>>;
  readonly cancelCodes: T['cancelCodes'][number];
  readonly cancelReplies: T['cancelReplies'];
  readonly principal: T['principal'];
  readonly asks: T['asks'];
}

/** The fields of a schema, or of none. */
export type FieldsOf<T> =
  NonNullable<T> extends ObjectSchema ? ValueOf<NonNullable<T>> : Record<never, never>;
