import { copyPlain, type Fields, isFields, sameData } from 'sluice-kernel/internal';
import { isPlainValue } from '../facts/plain-records.js';

/** The changes of a handler to its event. */
export interface InPlace {
  /** The fields that it wrote, `params.path` for one key. */
  readonly fields: readonly string[];
  /** The keys of `params` that it set, with copies of their values; absent if it set none. */
  readonly params: Fields | undefined;
}

/** The records that handlers write to; other objects are compared by identity, they may be large. */
const records = ['metadata', 'params'] as const;

/** The fields of an event that has been written to, given what they were. */
export function fieldsWritten(before: object, now: object): string[] {
  const [then, fields] = [before as Fields, now as Fields]; // legacy events are plain objects
  return Object.keys(fields).filter((name) => fields[name] !== then[name]);
}

/** A copy of an event, and of the records that handlers write to: what is written to it, others do not see. */
export function ownCopyOf<Event extends object>(event: Event): Event {
  const fields = { ...event } as Fields; // legacy events are plain objects
  const copies = records.filter((name) => isFields(fields[name]));
  return Object.assign(
    { ...event },
    Object.fromEntries(copies.map((name) => [name, copiesOf(fields[name])])),
  );
}

/**
 * Watches an event that handlers share and may write to. Comparing costs a walk over its small records for each
 * handler, and nothing for its messages.
 */
export class EventWatch {
  readonly #event: Record<string, unknown>;
  #fields: Fields;
  #copies: Fields;

  constructor(event: object) {
    this.#event = event as Record<string, unknown>; // legacy events are plain objects
    this.#fields = { ...this.#event };
    this.#copies = this.#copy();
  }

  /** Takes the changes since the last time; `undefined` if there are none. */
  take(): InPlace | undefined {
    const now = this.#event;
    const fields = namesOf(this.#fields, now).filter((name) => now[name] !== this.#fields[name]);
    let params: Fields | undefined;
    for (const name of records) {
      const copy = this.#copies[name];
      const record = now[name];
      if (!isFields(copy) || !isFields(record)) continue;
      const written = namesOf(copy, record).filter((key) => !sameData(copy[key], record[key]));
      if (written.length === 0) continue;
      fields.push(...written.map((key) => `${name}.${key}`));
      const set = written.filter((key) => Object.hasOwn(record, key) && isPlainValue(record[key]));
      if (name === 'params' && set.length > 0)
        params = Object.fromEntries(set.map((key) => [key, copyOf(record[key])]));
    }
    if (fields.length === 0) return undefined;
    this.#fields = { ...now };
    this.#copies = this.#copy();
    return { fields, params };
  }

  #copy(): Fields {
    return Object.fromEntries(records.map((name) => [name, copiesOf(this.#event[name])]));
  }
}

function namesOf(before: Fields, now: Fields): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])];
}

/** Copies of the values of a record, one by one: beside a value that cannot be copied the others are watched. */
function copiesOf(record: unknown): unknown {
  if (!isFields(record)) return undefined;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, copyOf(value)]));
}

/** Copies plain data. Another value is kept as it is, and compared by identity only. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const taken = copyPlain(value);
  return 'copy' in taken ? taken.copy : value;
}
