import type { Copier, Copy } from './copy.js';
import { type Field, type Refusal, refusalOf } from './field.js';
import type { Merge, MergeTarget } from './merge.js';
import { Batch, refuseOdd, unknownField } from './reference.js';

/** Tells whether this process may make functions from text: `--disallow-code-generation-from-strings` forbids it. */
export function canGenerateCode(): boolean {
  try {
    return new Function('return true')() === true;
  } catch {
    return false;
  }
}

/**
 * The reference merge as code made for one stage: a switch over the declared names, each plain field a store of its
 * own. It reads each property once, as the reference does, and leaves every field that is not plain to `Batch`.
 */
export function generatedMerge(fields: readonly Field[], copier: Copier): Merge {
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
    if (n === 0 || Object.getPrototypeOf(written) !== Object.prototype) { const r = odd(written); if (r !== undefined) return r; if (n === 0) return true; }
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
  return make(direct, copier, refusalOf, refuseOdd, rest);
}

/** Makes the copy of one shape: an object literal with its keys. */
export function generatedCopy(keys: readonly string[]): Copy {
  const fields = keys.map((key) => `${JSON.stringify(key)}:s[${JSON.stringify(key)}]`);
  return new Function('s', `return {${fields.join(',')}}`) as Copy; // keys are quoted as JSON
}
