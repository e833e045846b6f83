import { nearest } from '../value/nearest.js';
import { isPlain, shapeOf } from '../value/plain.js';
import type { Copier } from './copy.js';
import { type Field, type Refusal, writeField } from './field.js';
import type { FieldState } from './laws.js';
import type { Merge, MergeTarget } from './merge.js';

/** The reference: reads the fields of what was written one by one. */
export function referenceMerge(fields: readonly Field[], copier: Copier): Merge {
  const byKey = new Map(fields.map((field) => [field.key, field]));
  return (target, written) => {
    const keys = Object.keys(written);
    const odd = refuseOdd(written);
    if (odd !== undefined) return odd;
    if (keys.length === 0) return true;
    const batch = new Batch(target, copier);
    for (const key of keys) {
      const field = byKey.get(key);
      if (field === undefined) return unknownField(key, fields);
      const refusal = batch.write(field, (written as Record<string, unknown>)[key]);
      if (refusal !== undefined) return refusal;
    }
    return batch.commit();
  };
}

/** The writes of one patch, kept apart until all of them are accepted. */
export class Batch {
  readonly #target: MergeTarget;
  readonly #copier: Copier;
  #after: Record<string, unknown> | undefined;
  #states: { readonly key: string; readonly state: FieldState }[] | undefined;
  #overruled: string[] | undefined;
  #grew = false;

  constructor(target: MergeTarget, copier: Copier) {
    this.#target = target;
    this.#copier = copier;
  }

  /** A field whose law looks back, or that is trusted. */
  write(field: Field, value: unknown): Refusal | undefined {
    if (value === undefined) return undefined;
    const current = (this.#target.value as Record<string, unknown>)[field.key];
    const granted = !field.trusted || this.#target.granted(field.key);
    const next = writeField(field, this.#target, current, value, granted);
    if ('kind' in next) return next;
    if (field.name === 'first-defined' && this.#target.states?.get(field.key) === next)
      (this.#overruled ??= []).push(field.key);
    if (field.name !== 'replace') (this.#states ??= []).push({ key: field.key, state: next });
    if (!Object.is(next.value, current)) this.set(field.key, next.value, current);
    return undefined;
  }

  set(key: string, value: unknown, current: unknown): void {
    this.#after ??= (this.#target.copy ??= this.#copier.for(this.#target.value))(
      this.#target.value,
    );
    if (current === undefined) this.#grew = true;
    this.#after[key] = value;
  }

  commit(): true {
    const target = this.#target;
    for (const { key, state } of this.#states ?? []) (target.states ??= new Map()).set(key, state);
    for (const key of this.#overruled ?? []) target.overruled(key);
    if (this.#after === undefined) return true;
    if (this.#grew) target.copy = undefined; // another shape from here on
    target.value = Object.freeze(this.#after);
    return true;
  }
}

/** Why what was written is no plain object, if it is none. */
export function refuseOdd(written: object): Refusal | undefined {
  if (!Array.isArray(written) && isPlain(written)) return undefined;
  return {
    kind: 'bad-output',
    problem: `it must be a plain object with declared fields, and it is ${shapeOf(written)}`,
  };
}

/** Why a field that the stage does not declare is refused. */
export function unknownField(key: string, fields: readonly Field[]): Refusal {
  const names = fields.map((field) => field.key);
  const close = nearest(key, names);
  return {
    kind: 'bad-output',
    problem: `"${key}" is not declared${close === undefined ? '' : `; did you mean "${close}"?`} It may have: ${names.join(', ')}`,
  };
}
