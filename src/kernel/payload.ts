import { Compile } from 'typebox/compile';
import { SluiceError } from './errors.js';
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
    return new SluiceError('bad-payload', { family: stage.family, path, problem });
  };
}

/**
 * Takes a payload from outside: reads it once, freezes it, and checks it against the stage's schema.
 *
 * @throws SluiceError `bad-payload` or `unfreezable-payload`, naming the path.
 */
export function takePayload(stage: Stage, check: PayloadCheck, value: unknown): object {
  const refuse = (problem: string): never => {
    throw new SluiceError('bad-payload', { family: stage.family, path: '/', problem });
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('a payload is an object');
  try {
    freezeOrThrow(stage, value, true);
    const wrong = check(value);
    if (wrong !== undefined) throw wrong;
  } catch (thrown) {
    if (thrown instanceof SluiceError) throw thrown;
    throw new SluiceError(
      'bad-payload',
      { family: stage.family, path: '/', problem: 'it cannot be read' },
      { cause: thrown },
    );
  }
  return value;
}

/** Freezes a payload in place, but for its shared fields. */
export function freezeOrThrow(stage: Stage, payload: object, strict: boolean): void {
  const problem = freezePlain(payload, stage.shared, strict);
  if (problem !== undefined)
    throw new SluiceError('unfreezable-payload', { family: stage.family, ...problem });
}

function surplus(params: object): string | undefined {
  const names = (params as { additionalProperties?: readonly string[] }).additionalProperties;
  return names?.[0];
}
