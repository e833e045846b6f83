import { nearest } from '../nearest.js';
import { isPlain, shapeOf } from '../plain.js';
import { type Copier, type Copy, canGenerateCode } from './copy.js';
import { type Field, type FieldMemory, type Refusal, refusalOf, writeField } from './field.js';
import type { FieldState } from './laws.js';

/** What a merge is applied to: one slot of a dispatch. */
export interface MergeTarget extends FieldMemory {
  /** The value so far, frozen. Replaced, never written. */
  value: object;
  /** How to copy it; found at the first write. */
  copy: Copy | undefined;
  /** Whether the author of what is merged holds a field's grant. */
  granted(field: string): boolean;
  /** A write that came second to a first-defined field. */
  overruled(field: string): void;
}

/**
 * Applies a patch, or annotations, as a whole: every field by its law, or nothing (spec §6).
 *
 * @returns `true` where the slot's value changed or stayed, or why the whole is refused.
 */
export type Merge = (target: MergeTarget, written: object) => true | Refusal;

/** Makes the merge of a stage. With `generate` the plain `replace` fields are written by code made for this stage. */
export function compileMerge(fields: readonly Field[], copier: Copier, generate: boolean): Merge {
  const general = generalMerge(fields, copier);
  if (!generate || fields.length === 0 || !canGenerateCode()) return general;
  return generatedMerge(fields, copier);
}

/** The reference: reads the fields of what was written one by one. The generated merge is tested against it. */
export function generalMerge(fields: readonly Field[], copier: Copier): Merge {
  const byKey = new Map(fields.map((field) => [field.key, field]));
  return (target, written) => {
    const keys = Object.keys(written);
    if (Array.isArray(written) || !isPlain(written)) return oddObject(written);
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
class Batch {
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

/**
 * The same merge as code made for this stage: a switch over the declared names, each plain field a store of its
 * own. It reads each property once, as the general one does, and leaves every field that is not plain to `Batch`.
 */
function generatedMerge(fields: readonly Field[], copier: Copier): Merge {
  const direct = fields.filter((field) => field.direct);
  const cases = direct.map((field, i) => {
    const name = JSON.stringify(field.key);
    const misfits = field.plain === undefined ? `!a${i}(v)` : `typeof v !== '${field.plain}'`;
    const odd =
      field.plain === undefined
        ? `if (v !== null && typeof v !== 'string' && typeof v !== 'number' && typeof v !== 'boolean')
          return rest(target, written, keys, i, v, before, after, grew);`
        : '';
    return `case ${name}: {
      const v = written[${name}];
      if (v === undefined) break;
      const old = before[${name}];
      if (Object.is(v, old)) break;
      ${odd}      if (${misfits}) return refuse(f${i}, v);
      if (after === before) after = (target.copy ??= copier.for(before))(before);
      if (old === undefined) grew = true;
      after[${name}] = v;
      break;
    }`;
  });
  const body = `${direct.map((_, i) => `const f${i} = direct[${i}], a${i} = f${i}.accepts;`).join('\n')}
  return (target, written) => {
    const keys = Object.keys(written);
    const n = keys.length;
    if (n === 0 || Object.getPrototypeOf(written) !== Object.prototype) { const r = odd(written); if (r !== true || n === 0) return r; }
    const before = target.value;
    let after = before, grew = false;
    for (let i = 0; i < n; i++) {
      switch (keys[i]) {
        ${cases.join('\n')}
        default: return rest(target, written, keys, i, written[keys[i]], before, after, grew);
      }
    }
    if (after !== before) { if (grew) target.copy = undefined; target.value = Object.freeze(after); }
    return true;
  };`;
  const make = new Function('direct', 'copier', 'refuse', 'odd', 'rest', body) as (
    ...parts: unknown[]
  ) => Merge; // names in it are quoted as JSON
  const byKey = new Map(fields.map((field) => [field.key, field]));
  const rest = (
    target: MergeTarget,
    written: object,
    keys: readonly string[],
    from: number,
    first: unknown,
    before: object,
    after: Record<string, unknown>,
    grew: boolean,
  ): true | Refusal => {
    const batch = new Batch(target, copier);
    if (after !== before)
      for (let i = 0; i < from; i++) {
        const key = keys[i] as string;
        const value = after[key];
        if (!Object.is(value, (before as Record<string, unknown>)[key]))
          batch.set(key, value, grew ? undefined : true);
      }
    for (let i = from; i < keys.length; i++) {
      const key = keys[i] as string;
      const field = byKey.get(key);
      if (field === undefined) return unknownField(key, fields);
      const value = i === from ? first : (written as Record<string, unknown>)[key];
      const refusal = batch.write(field, value);
      if (refusal !== undefined) return refusal;
    }
    return batch.commit();
  };
  return make(direct, copier, refusalOf, oddOrPlain, rest);
}

function oddObject(written: object): Refusal {
  return {
    kind: 'bad-output',
    problem: `it must be a plain object with declared fields, and it is ${shapeOf(written)}`,
  };
}

function oddOrPlain(written: object): true | Refusal {
  return !Array.isArray(written) && isPlain(written) ? true : oddObject(written);
}

function unknownField(key: string, fields: readonly Field[]): Refusal {
  const names = fields.map((field) => field.key);
  const close = nearest(key, names);
  return {
    kind: 'bad-output',
    problem: `"${key}" is not declared${close === undefined ? '' : `; did you mean "${close}"?`} It may have: ${names.join(', ')}`,
  };
}
