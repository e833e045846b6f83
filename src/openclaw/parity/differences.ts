import type { LegacyDivergenceName } from '../mapping/divergences.js';
import { isPlain } from './plain-copy.js';

/** One field in which two runs differ. */
export interface ParityDifference {
  /** The place: `result.content`, `calls[1].event.params.path`. */
  readonly path: string;
  /** The value of the legacy runner there; `undefined` if it had none. */
  readonly legacy: unknown;
  /** The value of the pipeline there. */
  readonly pipeline: unknown;
  /** The row of `legacyDivergences` that it is by, if one of them explains it. Only `compareParity` says it. */
  readonly row?: LegacyDivergenceName;
}

/**
 * Lists the fields in which two values differ, in the order of their keys. A key with the value `undefined` is the same as
 * none; errors are the same if they read the same; any value but a plain object or list is compared by identity.
 *
 * @param path the beginning of the paths.
 * @example
 * parityDifferences({ cancel: true }, { cancel: true, content: 'x' }, 'result');
 * // [{ path: 'result.content', legacy: undefined, pipeline: 'x' }]
 */
export function parityDifferences(
  legacy: unknown,
  pipeline: unknown,
  path = '',
): ParityDifference[] {
  const found: ParityDifference[] = [];
  compare(legacy, pipeline, path, found, new Map());
  return found;
}

function compare(
  legacy: unknown,
  pipeline: unknown,
  path: string,
  found: ParityDifference[],
  under: Map<unknown, unknown>,
): void {
  if (Object.is(legacy, pipeline) || isSameError(legacy, pipeline)) return;
  const bothPlain = isPlain(legacy) && isPlain(pipeline);
  if (!bothPlain || Array.isArray(legacy) !== Array.isArray(pipeline)) {
    found.push({ path, legacy, pipeline });
    return;
  }
  if (under.get(legacy) === pipeline) return; // the same pair further up: a cycle
  const within = new Map(under).set(legacy, pipeline);
  const keys = new Set([...Object.keys(legacy), ...Object.keys(pipeline)]);
  for (const key of keys) {
    const next = Array.isArray(legacy) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    compare((legacy as Fields)[key], (pipeline as Fields)[key], next, found, within);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isSameError(one: unknown, other: unknown): boolean {
  return one instanceof Error && other instanceof Error && String(one) === String(other);
}
