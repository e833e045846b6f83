import type { InnerWrite } from '../../merge/work.js';
import type { Entry } from '../../outcome/entry.js';
import { authorOf } from '../../outcome/entry.js';
import type { Change } from '../../outcome/outcome.js';
import type { Run } from './run.js';

/** Lists the writes with their authors, in order (spec §5.5). */
export function changesOf({ work }: Run): Change[] {
  if (work === undefined) return [];
  const changes: Change[] = [];
  const overruled = work.overrulings ?? [];
  const { written } = work;
  for (let i = 0; i <= written.length; i += 2) {
    for (const { entry, path, at } of overruled)
      if (at === i) changes.push({ path, ...authorOf(entry), overruled: true });
    const [entry, what] = [written[i] as Entry | undefined, written[i + 1]] as const; // written in pairs
    if (entry === undefined) continue;
    for (const path of pathsOf(what as string | InnerWrite))
      changes.push({ path, ...authorOf(entry) });
  }
  return changes.map((change) => Object.freeze(change));
}

/** Lists the authors in order, once for each write. */
export function writersOf({ work }: Run): Entry[] {
  return (work?.written ?? []).filter((_, i) => i % 2 === 0) as Entry[]; // written in pairs
}

function pathsOf(what: string | InnerWrite): string[] {
  if (typeof what === 'string') return [what];
  const { field, before, after } = what;
  if (!isRecord(after)) return [field];
  const inner = changedKeys(isRecord(before) ? before : {}, after);
  return inner.length === 0 ? [field] : inner.map((name) => `${field}${segment(name)}`);
}

function changedKeys(before: object, after: object): string[] {
  return Object.keys(after).filter((key) => !Object.is(valueAt(before, key), valueAt(after, key)));
}

function segment(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function valueAt(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
