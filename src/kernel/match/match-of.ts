import type { FamilyName, PatchOf, PayloadOf, PrincipalsOf } from '../outcome/families.js';

type Scalar = string | number | boolean;

/** A value without what stands for its absence. */
type Known<T> = Exclude<T, undefined | null>;

/** One of a few levels: a key joins three names at most. */
type Below = { readonly 3: 2; readonly 2: 1; readonly 1: 0 };

/** The keys of the scalars of an object, and of the objects in it. Lists and open records have none. */
type ScalarKey<T, Levels extends keyof Below | 0> = Levels extends keyof Below
  ? string extends keyof T
    ? never
    : {
        [Name in keyof T & string]: [Known<T[Name]>] extends [never]
          ? never
          : [Known<T[Name]>] extends [Scalar]
            ? Name
            : [Known<T[Name]>] extends [readonly unknown[]]
              ? never
              : [Known<T[Name]>] extends [object]
                ? `${Name}.${ScalarKey<Known<T[Name]>, Below[Levels]>}`
                : never;
      }[keyof T & string]
  : never;

type At<T, Key extends string> = Key extends `${infer Name}.${infer Rest}`
  ? Name extends keyof T
    ? At<Known<T[Name]>, Rest>
    : never
  : Key extends keyof T
    ? Known<T[Key]>
    : never;

/** A value to compare with: a text may end in a star. Of a few words it is one of them, or the beginning of one. */
type Compared<T> = T extends string ? (string extends T ? string : T | `${string}*`) : T;

type OneOrMore<T> = T | readonly T[];

/** The keys of what a dispatch has beside its payload. */
type OriginKey =
  | 'workspaceId'
  | 'agentId'
  | 'sessionId'
  | `${'accountRef' | 'conversationRef' | 'threadRef'}.${'channel' | 'id'}`;

/** The proven fields of a principal, where the family has one. Of its roles one has to be there. */
type PrincipalMatch<F extends FamilyName> =
  true extends PrincipalsOf<F>
    ? {
        readonly [Key in `principal.${'channel' | 'accountId' | 'conversationId' | 'senderId' | 'roles'}`]?: OneOrMore<string>;
      } & { readonly 'principal.isOwner'?: boolean }
    : unknown;

type Head<Key extends string> = Key extends `${infer Name}.${string}` ? Name : Key;

type Unpatched<F extends FamilyName> = Omit<PayloadOf<F>, keyof PatchOf<F>>;

/**
 * The match of a contribution to a family: it is called only for dispatches whose fields have one of the values (judgement §2). Fields are
 * scalars that no patch of the stage can write, by their path, refs of the envelope and the principal. A text that ends in `*` is a prefix.
 *
 * @example
 * const shell: MatchOf<'agent.tool.calling'> = { toolName: ['Bash', 'exec_*'], 'accountRef.channel': 'pigeon' };
 */
export type MatchOf<F extends FamilyName> = {
  readonly [Key in ScalarKey<Unpatched<F>, 3>]?: OneOrMore<Compared<At<PayloadOf<F>, Key>>>;
} & {
  readonly [Key in OriginKey as Head<Key> extends keyof PayloadOf<F>
    ? never
    : Key]?: OneOrMore<string>;
} & PrincipalMatch<F>;

/** The options that narrow the dispatches a contribution is called for. */
export interface MatchOptions<F extends FamilyName> {
  /** All of its fields have to have one of their values; it is decided once for each dispatch (judgement §2). */
  readonly match?: MatchOf<F>;
}
