import { Compile } from 'typebox/compile';
import { kernelError, type SluiceError } from '../errors.js';
import { copyPlain } from '../value/copy-plain.js';
import { freezePlain } from '../value/freeze.js';
import { nearest } from '../value/nearest.js';
import { step } from '../value/plain.js';
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
  const wrong = checked(stage, check, taken.copy);
  if (wrong !== undefined) throw wrong;
  return taken.copy;
}

/** Checks a copy. Its shared fields are what the caller has given, so the check may meet a value that cannot be read. */
function checked(stage: Stage, check: PayloadCheck, copy: object): SluiceError | undefined {
  try {
    return check(copy);
  } catch {
    const { family, shared } = stage;
    const field = shared.find((name) => !canRead(check, copy, without(shared, name)));
    const path = field === undefined ? '/' : step(field);
    return kernelError('bad-payload', { family, path, problem: 'it cannot be read' });
  }
}

/** Returns whether a check can read a copy that lacks some of its fields. */
function canRead(check: PayloadCheck, copy: object, lacking: readonly string[]): boolean {
  const fields = Object.entries(copy).filter(([name]) => !lacking.includes(name));
  try {
    check(Object.fromEntries(fields));
    return true;
  } catch {
    return false;
  }
}

function without(names: readonly string[], name: string): readonly string[] {
  return names.filter((one) => one !== name);
}

/** Returns whether a value is an array. A revoked proxy counts as none, because it cannot be asked. */
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

/** The error of a dispatch by the wrong one of the two methods. */
export function wrongMode(stage: Stage, use: string): SluiceError {
  return kernelError('wrong-mode', { family: stage.family, mode: stage.mode, use });
}
