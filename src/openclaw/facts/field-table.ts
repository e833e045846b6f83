import { definedFields, type Envelope, type Principal } from 'sluice-kernel/internal';

/** One field of a legacy record that a payload does not hold as it is. */
export interface Field<Value, Payload> {
  /** The payload's field, `sender.id` for one inside a field; absent if the record's value goes into no payload. */
  readonly to?: string;
  /** Reads the record's value for the payload; as it is by default. */
  read?(value: Exclude<Value, undefined>): unknown;
  /** Reads the record's value as the principal of its dispatch, which no payload holds (judgement §1.11). */
  principal?(value: Exclude<Value, undefined>): Principal | undefined;
  /** The record's value, of a payload; the envelope and the principal are given if the record tells of a whole event. */
  show(payload: Payload, envelope?: Envelope, principal?: Principal): Value;
}

/** The names of the payload's fields that fit a field of the record as they are. */
type FittingName<Value, Payload> = {
  [Name in keyof Payload & string]: Payload[Name] extends Value ? Name : never;
}[keyof Payload & string];

/** The fields of a legacy record, and the place of each in the payload of a family. It is read both ways. */
export type FieldTable<Fields, Payload> = {
  readonly [Name in keyof Fields]-?:
    | FittingName<Fields[Name], Payload>
    | Field<Fields[Name], Payload>;
};

type AnyTable = Readonly<Record<string, string | Field<unknown, unknown>>>;

/** A part of a table: fields that have the same name and type on both sides. */
export function same<const Name extends string>(...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, name])) as { [N in Name]: N };
}

/** A field that a record shows of the payload and that no payload takes of the record. */
export function shown<const Name extends string>(name: Name) {
  return { show: <Value>(payload: { readonly [N in Name]: Value }): Value => payload[name] };
}

/** The fields of a payload, of a legacy record. A field that is `undefined` is left out. */
export function payloadFields<Fields extends object>(
  table: FieldTable<Fields, never>,
  record: Fields,
): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(table as AnyTable)) {
    const value: unknown = record[name as keyof Fields];
    const [to, read] = typeof field === 'string' ? [field] : [field.to, field.read];
    if (value === undefined || to === undefined) continue;
    const taken = read === undefined ? value : read(value);
    if (taken === undefined) continue;
    const [outer = '', inner] = to.split('.');
    if (inner === undefined) payload[outer] = taken;
    else payload[outer] = { ...(payload[outer] as object | undefined), [inner]: taken };
  }
  return payload;
}

/** The principal that a legacy record tells of; none if it tells of none. */
export function principalIn<Fields extends object>(
  table: FieldTable<Fields, never>,
  record: Fields,
): { readonly principal?: Principal } {
  for (const [name, field] of Object.entries(table as AnyTable)) {
    const value: unknown = record[name as keyof Fields];
    if (typeof field === 'string' || value === undefined) continue;
    const principal = field.principal?.(value);
    if (principal !== undefined) return { principal };
  }
  return {};
}

/** The legacy record of a payload. A field that the payload does not say is `undefined`. */
export function recordOf<Fields extends object>(
  table: FieldTable<Fields, never>,
  payload: object,
  envelope?: Envelope,
  principal?: Principal,
): Fields {
  const said = payload as Readonly<Record<string, unknown>>; // read by the names in the table
  const fields = Object.entries(table as AnyTable).map(([name, field]) => [
    name,
    typeof field === 'string' ? said[field] : field.show(payload, envelope, principal),
  ]);
  return Object.fromEntries(fields) as Fields; // the table has each of its fields, of its type
}

/** The same without the fields that are `undefined`. */
export function definedRecordOf<Fields extends object>(
  ...from: Parameters<typeof recordOf<Fields>>
): Fields {
  return definedFields(recordOf(...from)) as Fields; // an optional field may be left out
}
