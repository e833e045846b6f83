import { Compile } from 'typebox/compile';
import { copyPlain } from './copy-plain.js';
import { kernelError, type SluiceError } from './errors.js';
import { freezePlain } from './freeze.js';
import { nearest } from './nearest.js';
import type { Stage } from './stage.js';

/** Says what is wrong with a payload, or nothing. */
export type PayloadCheck = (payload: unknown) => SluiceError | undefined;

/** Compiles the check of a stage's payload: its schema, with the path and the nearest declared name (spec §1.4). */
export function payloadCheck(stage: Stage): PayloadCheck {
  const validator = Compile(stage.payload);
  const declared = Object.keys(stage.payload.properties);
  return (payload) => {
    if (validator.Check(payload)) return undefined;
    const errors = validator.Errors(payload);
    const error = errors.find(({ keyword }) => keyword !== 'boolean') ?? errors[0];
    const extra = error?.keyword === 'additionalProperties' ? surplus(error.params) : undefined;
    const path =
      extra === undefined ? error?.instancePath || '/' : `${error?.instancePath}/${extra}`;
    const close = extra === undefined ? undefined : nearest(extra, declared);
    const problem =
      extra === undefined
        ? (error?.message ?? 'it does not fit')
        : `no such field is declared${close === undefined ? '' : `; did you mean "${close}"?`}`;
    return kernelError('bad-payload', { family: stage.family, path, problem });
  };
}

/**
 * Takes a payload from outside: reads it once, into a frozen copy, and checks that against the stage's schema. Its
 * shared fields pass by reference.
 *
 * @throws SluiceError `bad-payload` or `unfreezable-payload`, naming the path.
 */
export function takePayload(stage: Stage, check: PayloadCheck, value: unknown): object {
  const { family } = stage;
  if (typeof value !== 'object' || value === null || isList(value))
    throw kernelError('bad-payload', { family, path: '/', problem: 'a payload is an object' });
  const taken = copyPlain(value, stage.shared);
  if (!('copy' in taken)) {
    const { path, problem, isUnreadable } = taken;
    throw kernelError(isUnreadable === true ? 'bad-payload' : 'unfreezable-payload', {
      family,
      path,
      problem,
    });
  }
  const wrong = check(taken.copy);
  if (wrong !== undefined) throw wrong;
  return taken.copy;
}

/** Whether a value is an array; of a revoked proxy nobody can tell. */
function isList(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Freezes a payload in place, but for its shared fields. */
export function freezeOrThrow(stage: Stage, payload: object): void {
  if (typeof payload !== 'object' || payload === null)
    throw kernelError('bad-payload', {
      family: stage.family,
      path: '/',
      problem: 'a payload is an object',
    });
  const problem = freezePlain(payload, stage.shared);
  if (problem !== undefined)
    throw kernelError('unfreezable-payload', {
      family: stage.family,
      path: problem.path,
      problem: problem.problem,
    });
}

function surplus(params: object): string | undefined {
  const names = (params as { additionalProperties?: readonly string[] }).additionalProperties;
  return names?.[0];
}
