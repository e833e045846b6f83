/**
 * A JSON Schema, as far as the kernel reads one: plain data. A stage that says a keyword that is not here is refused, unless the
 * keyword only tells people something.
 */
export interface Schema {
  readonly type?: keyof Scalars | 'array' | 'object';
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly pattern?: string;
  readonly description?: string;
  readonly '~optional'?: true;
  readonly '~unsafe'?: unknown;
  readonly '~kind'?: string;
}

/** The schema of an object, with its fields. */
export interface ObjectSchema<
  Fields extends Readonly<Record<string, Schema>> = Readonly<Record<string, Schema>>,
> extends Schema {
  readonly type: 'object';
  readonly properties: Fields;
}

/** The type of the values that a schema takes. It reads the schemas of TypeBox, too. */
export type Infer<S> = S extends { readonly '~unsafe': infer T }
  ? T
  : S extends { readonly const: infer T }
    ? T
    : S extends { readonly enum: readonly (infer T)[] }
      ? T
      : S extends { readonly anyOf: readonly (infer T)[] }
        ? Infer<T>
        : S extends { readonly type: 'object'; readonly properties: infer Fields }
          ? Flat<
              { [Name in RequiredOf<Fields>]: Infer<Fields[Name]> } & {
                [Name in Exclude<keyof Fields, RequiredOf<Fields>>]?: Infer<Fields[Name]>;
              }
            >
          : S extends { readonly type: 'array'; readonly items: infer T }
            ? Infer<T>[]
            : S extends { readonly type: keyof Scalars }
              ? Scalars[S['type']]
              : unknown;

type RequiredOf<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly '~optional': true } ? never : Name;
}[keyof Fields];

type Flat<T> = { [Name in keyof T]: T[Name] };

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}
