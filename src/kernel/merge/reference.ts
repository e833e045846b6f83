import type { Check, Misfit } from '../schema/check.js';
import { didYouMean } from '../value/nearest.js';
import { isPlain, shapeOf } from '../value/plain.js';
import { type Field, type Refusal, refusal, writeField } from './field.js';
import type { FieldState } from './laws.js';
import type { Merge, MergeTarget } from './merge.js';

/**
 * The reference: reads the fields of what was written one by one.
 *
 * @param whole judges what all of them together would make, if the schema cannot be asked field by field.
 */
export function referenceMerge(fields: readonly Field[], whole?: Check): Merge {
  const byKey = new Map(fields.map((field) => [field.key, field]));
  return (target, written) => {
    const keys = Object.keys(written);
    const odd = refuseOdd(written);
    if (odd !== undefined) return odd;
    if (keys.length === 0) return true;
    const batch = new Batch(target);
    for (const key of keys) {
      const field = byKey.get(key);
      if (field === undefined) return unknownField(key, fields);
      const refusal = batch.write(field, (written as Record<string, unknown>)[key]);
      if (refusal !== undefined) return refusal;
    }
    const misfit = whole?.(batch.result());
    if (misfit !== undefined) return unfit(misfit);
    return batch.commit();
  };
}

/** The writes of one patch, kept apart until all of them are accepted. */
export class Batch {
  readonly #target: MergeTarget;
  readonly #writes: { readonly field: Field; readonly value: unknown }[] = [];
  #states: { readonly key: string; readonly state: FieldState }[] | undefined;
  #overruled: string[] | undefined;

  constructor(target: MergeTarget) {
    this.#target = target;
  }

  /** Reads a field's value, and refuses it or keeps it for the commit. */
  write(field: Field, value: unknown): Refusal | undefined {
    if (value === undefined) return undefined;
    const current = valueAt(this.#target.value, field.key);
    const granted = !field.trusted || this.#target.granted(field.key);
    const next = writeField(field, this.#target, current, value, granted);
    if ('kind' in next) return next;
    if (field.name === 'first-defined' && this.#target.states?.get(field.key) === next)
      (this.#overruled ??= []).push(field.key);
    if (field.name !== 'replace') (this.#states ??= []).push({ key: field.key, state: next });
    this.set(field, next.value);
    return undefined;
  }

  /** Keeps a value that is accepted. */
  set(field: Field, value: unknown): void {
    if (!Object.is(value, valueAt(this.#target.value, field.key)))
      this.#writes.push({ field, value });
  }

  /** The value as the writes would make it. */
  result(): object {
    const writes = this.#writes.map(({ field, value }) => [field.key, value] as const);
    return { ...this.#target.value, ...Object.fromEntries(writes) };
  }

  commit(): true {
    const target = this.#target;
    for (const { key, state } of this.#states ?? []) (target.states ??= new Map()).set(key, state);
    for (const key of this.#overruled ?? []) target.overruled(key);
    if (this.#writes.length === 0) return true;
    const open = target.open();
    for (const { field, value } of this.#writes) {
      const before = open[field.key];
      open[field.key] = value;
      target.wrote(field.key, before, field.name === 'merge-keys');
    }
    target.commit();
    return true;
  }
}

function valueAt(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}

/** Why what was written is no plain object, if it is none. */
export function refuseOdd(written: object): Refusal | undefined {
  if (!Array.isArray(written) && isPlain(written)) return undefined;
  return refusal(`it must be a plain object with declared fields, and it is ${shapeOf(written)}`);
}

function unfit({ path, problem }: Misfit): Refusal {
  const field = path.split('/')[1];
  const about = refusal(`"${path}" would not fit: ${problem}`);
  return field === undefined ? about : { ...about, unfit: field };
}

/** Why a field that the stage does not declare is refused. */
export function unknownField(key: string, fields: readonly Field[]): Refusal {
  const names = fields.map((field) => field.key);
  const hint = didYouMean(key, names) || '.';
  return refusal(`"${key}" is not declared${hint} It may have: ${names.join(', ')}`);
}
