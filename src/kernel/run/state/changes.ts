import { authorOf } from '../../outcome/entry.js';
import type { Change } from '../../outcome/outcome.js';
import { type Run, versionsOf } from './run.js';

/**
 * Who wrote what, in order: read from the versions of the payload that the patches left, which are frozen, so that
 * the answer cannot be changed afterwards by a handler that kept its patch (spec §6.5).
 */
export function changesOf(run: Run): Change[] {
  const changes: Change[] = [];
  const versions = versionsOf(run);
  const overruled = run.overruled ?? [];
  let before = run.emitted;
  for (let i = 0; i <= versions.length; i++) {
    for (const { entry, path, at } of overruled)
      if (at === i) changes.push({ path, ...authorOf(entry), overruled: true });
    const version = versions[i];
    if (version === undefined) continue;
    for (const path of changedPaths(run, before, version.payload))
      changes.push({ path, ...authorOf(version.entry) });
    before = version.payload;
  }
  return changes.map((change) => Object.freeze(change));
}

function changedPaths(run: Run, before: object, after: object): string[] {
  return changedKeys(before, after).flatMap((key) => {
    const old = valueAt(before, key);
    const now = valueAt(after, key);
    if (run.plan.stage.laws[key]?.law !== 'merge-keys' || !isRecord(now)) return [key];
    const inner = changedKeys(isRecord(old) ? old : {}, now);
    return inner.length === 0 ? [key] : inner.map((name) => `${key}${segment(name)}`);
  });
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
