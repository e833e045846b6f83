/** A value that a match compares with. */
export type MatchScalar = string | number | boolean;

/** The conditions of a match as data: per field, the values of which one has to be there (judgement §2.1). */
export type Match = Readonly<Record<string, readonly MatchScalar[]>>;

/** The types that a field may have. */
export type ScalarType = 'string' | 'number' | 'boolean';

/** A field that a match may name. */
export interface MatchField {
  /** Its name in a match: `toolName`, `message.sender.id` or `accountRef.channel`. */
  readonly key: string;
  /** The place of the value: in the payload, or beside it, where refs go on from one dispatch to the next. */
  readonly from: 'payload' | 'origin';
  /** The same name in parts. */
  readonly path: readonly string[];
  readonly types: readonly ScalarType[];
  /** All values that it can have, if its schema lists them. */
  readonly values: readonly MatchScalar[] | undefined;
  /** It is a list, and one of its items has to be there. */
  readonly isList: boolean;
}

/** One condition of a contribution: a field, and the values of which one has to be there. */
export interface Condition {
  readonly field: MatchField;
  readonly values: ReadonlySet<unknown>;
  /** The beginnings of texts: of `read_*` the part before the star. */
  readonly prefixes: readonly string[];
}
