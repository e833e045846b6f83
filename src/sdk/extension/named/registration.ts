import type { RegisteredSchedule } from './schedule.js';

/**
 * The things that an extension registers by name in setup, by the method of the api that takes them. Their jobs come by an account
 * of their own (extensions-that-act §5.4).
 */
export interface Registrations {
  readonly schedule: RegisteredSchedule;
}

/** A method of the api that registers something by name. */
export type RegistrationKind = keyof Registrations;

/** A thing that an extension has registered by name. */
export interface Registration<K extends RegistrationKind = RegistrationKind> {
  readonly kind: K;
  /** Unique in the extension for its kind. */
  readonly name: string;
  readonly value: Registrations[K];
}

const namePattern = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/** Says why a name cannot be registered. */
export function nameProblem(
  { kind, name }: Pick<Registration, 'kind' | 'name'>,
  before: readonly Registration[],
): string | undefined {
  const given: unknown = name; // from JavaScript it may be anything
  if (typeof given !== 'string' || !namePattern.test(given))
    return 'its name must be a text of 1 to 200 characters without control characters';
  const isThere = before.some((one) => one.kind === kind && one.name === name);
  return isThere ? 'there is one of that name already' : undefined;
}
