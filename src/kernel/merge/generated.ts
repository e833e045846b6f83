import type { Shape } from './copy.js';
import { type Field, type PlainType, type Refusal, refusalOf } from './field.js';
import type { Merge, MergeTarget } from './merge.js';
import { Batch, refuseOdd, unknownField } from './reference.js';

/** Returns whether this process may make functions from text: `--disallow-code-generation-from-strings` forbids it. */
export function canGenerateCode(): boolean {
  try {
    return new Function('return true')() === true;
  } catch {
    return false;
  }
}

/**
 * The reference merge as code made for one stage: a switch over the declared names, each plain field a variable of its
 * own, stored when all are accepted. It reads each property once, as the reference does. It leaves to `Batch` a patch with a
 * field that is not plain, and one whose order is not that of the stage: fields are written in the order of their patch.
 * It asks for a prototype right after it has read a property: there V8 knows the answer, elsewhere that is a call into C++.
 */
export function generatedMerge(fields: readonly Field[]): Merge {
  const direct = fields.filter((field) => field.direct);
  const names = direct.map((field) => JSON.stringify(field.key));
  const values = direct.map((_, i) => `v${i}`);
  const cases = direct.map((field, i) => {
    const test = field.plain === undefined ? undefined : tests[field.plain];
    const rest = `return rest(target, written, read, [${values.join(', ')}]);`;
    const odd = `if (v${i} !== null && typeof v${i} !== 'string' && typeof v${i} !== 'number' && typeof v${i} !== 'boolean') ${rest}`;
    return `case ${names[i]}:
        v${i} = written[${names[i]}];
        if (Object.getPrototypeOf(written) !== Object.prototype) { const r = odd(written); if (r !== undefined) return r; }
        if (v${i} === undefined) break;
        if (${i} < last) inOrder = false;
        last = ${i};
        ${test === undefined ? `${odd} if (!a${i}(v${i}))` : `if (!(${test(`v${i}`)}))`} return refuse(f${i}, v${i});
        break;`;
  });
  const stores = direct.map(
    (
      _,
      i,
    ) => `if (v${i} !== undefined) { const old = now[${names[i]}]; if (!Object.is(v${i}, old)) {
      open ??= target.open(); open[${names[i]}] = v${i}; target.wrote(${names[i]}, old, false); } }`,
  );
  const body = `${direct.map((_, i) => `const f${i} = direct[${i}], a${i} = f${i}.accepts;`).join('\n')}
  return (target, written) => {
    ${direct.length === 0 ? '' : `let ${values.join(', ')};`}
    let read = 0, last = 0, inOrder = true;
    for (const key in written) {
      if (!${isOwn('written')}) continue;
      switch (key) {
        ${cases.join('\n')}
        default: return rest(target, written, read, [${values.join(', ')}]);
      }
      read++;
    }
    if (read === 0) return odd(written) ?? true;
    if (!inOrder) return rest(target, written, read, [${values.join(', ')}]);
    const now = target.value;
    let open;
    ${stores.join('\n')}
    if (open !== undefined) target.commit();
    return true;
  };`;
  const make = new Function('direct', 'refuse', 'odd', 'rest', body) as (
    ...parts: unknown[]
  ) => Merge; // names in it are quoted as JSON
  const byKey = new Map(fields.map((field) => [field.key, field]));
  const places = new Map(direct.map((field, i) => [field.key, i]));
  const rest = (
    target: MergeTarget,
    written: object,
    read: number,
    values: readonly unknown[],
  ): true | Refusal => {
    const problem = refuseOdd(written);
    if (problem !== undefined) return problem;
    const batch = new Batch(target);
    const keys = Object.keys(written);
    for (const [i, key] of keys.entries()) {
      const field = byKey.get(key);
      if (field === undefined) return unknownField(key, fields);
      const place = places.get(key);
      const wasRead = place !== undefined && (i < read || values[place] !== undefined);
      const value = wasRead ? values[place] : (written as Record<string, unknown>)[key];
      const refusal = batch.write(field, value);
      if (refusal !== undefined) return refusal;
    }
    return batch.commit();
  };
  return make(direct, refusalOf, refuseOdd, rest);
}

/**
 * Asks in a loop over the keys of an object if `key` is its own. It names the function by its way from a global: there V8 knows it,
 * and takes the question out of the loop. A function in a variable it calls for each key (5 ns).
 */
const isOwn = (object: string) => `Object.prototype.hasOwnProperty.call(${object}, key)`;

/** The tests of schemas that ask for a type and nothing more, made in place. */
const tests: Readonly<Record<PlainType, (value: string) => string>> = {
  string: (value) => `typeof ${value} === 'string'`,
  boolean: (value) => `typeof ${value} === 'boolean'`,
  number: (value) => `typeof ${value} === 'number' && Number.isFinite(${value})`,
  integer: (value) => `Number.isInteger(${value})`,
};

/** Makes the functions of one shape: an object literal with its keys, and a comparison of each, after the prototype. */
export function generatedShape(keys: readonly string[]): Shape {
  const names = keys.map((key) => JSON.stringify(key));
  const fields = names.map((name) => `${name}:s[${name}]`);
  const same = names.slice(1).map((name) => ` && Object.is(c[${name}], o[${name}])`);
  const copy = new Function('s', `return {${fields.join(',')}}`) as Shape['copy']; // keys are quoted as JSON
  const isSame = new Function(
    'c',
    'o',
    `let n = 0;
    for (const key in c) if (${isOwn('c')}) n++;
    const first = ${names.length === 0 ? 'undefined' : `c[${names[0]}]`};
    if (Object.getPrototypeOf(c) !== Object.prototype) return false;
    return n === ${keys.length}${names.length === 0 ? '' : ` && Object.is(first, o[${names[0]}])`}${same.join('')};`,
  ) as Shape['isSame']; // as above
  return { keys, copy, isSame };
}
