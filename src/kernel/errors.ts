import { type ErrorRow, type KernelErrors, kernelErrors } from './error-rows.js';

/** The rows of each layer that a program imports. The errors.ts of each layer merges its rows into this interface. */
export interface ErrorRows extends KernelErrors {}

/** A code of the error table. */
export type ErrorCode = keyof ErrorRows;

/** The subject of an error, and the values that its text names. */
export type ErrorDetails = Readonly<Record<string, string | number | undefined>>;

/**
 * A misuse of the kernel or of a layer above it. Expected failures are values in an `Outcome`; this is thrown (by an
 * async call: rejected) when the caller has to change something.
 *
 * @example
 * try { kernel.contribute(contribution); }
 * catch (error) { if (isSluiceError(error)) console.error(error.code, error.message, error.hint); }
 */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  /** The row of the error table. */
  readonly code: ErrorCode;
  /** The advice to the reader. */
  readonly hint: string;
  /** The owner, and the values that the text names. */
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, row: ErrorRow, details: ErrorDetails, options?: ErrorOptions) {
    super(fill(row.message, details), options);
    this.code = code;
    this.hint = fill(row.hint, details);
    this.details = details;
  }
}

/** Returns the maker of one layer's errors, which takes the codes of its rows. `ErrorRows` must have them. */
export function errorMaker<Code extends ErrorCode>(rows: Readonly<Record<Code, ErrorRow>>) {
  return function make(code: Code, details: ErrorDetails, options?: ErrorOptions): SluiceError {
    const error = new SluiceError(code, rows[code], details, options);
    Error.captureStackTrace?.(error, make); // the stack begins where the error was asked for
    return error;
  };
}

/** Makes an error of the kernel. */
export const kernelError = errorMaker(kernelErrors);

/**
 * Returns whether a value is a `SluiceError`, also one of another installed copy of this package; with a code, one of that code.
 *
 * @example
 * catch (error) {
 *   if (isSluiceError(error, 'bad-config')) console.error(error.message);
 * }
 */
export function isSluiceError(value: unknown, code?: ErrorCode): value is SluiceError {
  if (!(value instanceof Error && value.name === 'SluiceError' && 'code' in value)) return false;
  return code === undefined || value.code === code;
}

function fill(text: string, details: ErrorDetails): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''));
}
