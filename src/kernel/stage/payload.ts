import { kernelError, type SluiceError } from '../errors.js';
import { compileCheck } from '../schema/check.js';
import { standardCheck } from '../schema/standard.js';
import { copyPlain } from '../value/copy-plain.js';
import { freezePlain } from '../value/freeze.js';
import { didYouMean } from '../value/nearest.js';
import { step } from '../value/plain.js';
import type { Stage } from './stage.js';

/** Says what is wrong with a payload, or nothing. */
export type PayloadCheck = (payload: unknown) => SluiceError | undefined;

/** Compiles the check of a stage's payload: its schema, with the path and the nearest declared name (spec §1.4). */
export function payloadCheck({ family, payload: schema, standard }: Stage): PayloadCheck {
  const misfitOf = standard === undefined ? compileCheck(schema) : standardCheck(standard);
  const declared = Object.keys(schema.properties);
  return (payload) => {
    const misfit = misfitOf(payload);
    if (misfit === undefined) return undefined;
    const { surplus } = misfit;
    const path = surplus === undefined ? misfit.path || '/' : `${misfit.path}/${surplus}`;
    const problem =
      surplus === undefined
        ? misfit.problem
        : `no such field is declared${didYouMean(surplus, declared)}`;
    return kernelError('bad-payload', { family, path, problem });
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
  const taken =
    typeof value === 'object' && value !== null ? copyPlain(value, stage.shared) : undefined;
  if (taken === undefined || ('copy' in taken && Array.isArray(taken.copy)))
    throw kernelError('bad-payload', { family, path: '/', problem: 'a payload is an object' });
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
    const field = shared.find((name) => !canRead(check, copy, name));
    const path = field === undefined ? '/' : step(field);
    return kernelError('bad-payload', { family, path, problem: 'it cannot be read' });
  }
}

/** Returns whether a check can read a field of a copy. */
function canRead(check: PayloadCheck, copy: object, name: string): boolean {
  const fields = Object.entries(copy).filter(([field]) => field === name);
  try {
    check(Object.fromEntries(fields));
    return true;
  } catch {
    return false;
  }
}

/** Freezes a payload in place, but for its shared fields. */
export function freezeOrThrow(stage: Stage, payload: object): void {
  const { family } = stage;
  if (typeof payload !== 'object' || payload === null)
    throw kernelError('bad-payload', { family, path: '/', problem: 'a payload is an object' });
  const found = freezePlain(payload, stage.shared);
  if (found === undefined) return;
  const { path, problem } = found;
  throw kernelError('unfreezable-payload', { family, path, problem });
}

/** The error of a dispatch by the wrong one of the two methods. */
export function wrongMode(stage: Stage, use: string): SluiceError {
  return kernelError('wrong-mode', { family: stage.family, mode: stage.mode, use });
}
