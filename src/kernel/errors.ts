import type { ErrorRow, KernelErrors } from './error-rows.js';

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

  /** @param row absent in `sluice-kernel/core`, which has no sentences: then the text is the code with the details. */
  constructor(
    code: ErrorCode,
    row: ErrorRow | undefined,
    details: ErrorDetails,
    options?: ErrorOptions,
  ) {
    super(row === undefined ? bare(code, details) : fill(row.message, details), options);
    this.code = code;
    this.hint = fill(
      row?.hint ?? `Read kernelErrors['${code}'] of sluice-kernel/error-rows.`,
      details,
    );
    this.details = details;
  }
}

/** The maker of one layer's errors, with its rows. */
export interface ErrorMaker<Rows> {
  (code: keyof Rows & ErrorCode, details: ErrorDetails, options?: ErrorOptions): SluiceError;
  readonly rows: Rows;
}

/** The rows of a maker, as a type for `ErrorRows`. */
export type RowsOf<Maker extends { readonly rows: object }> = Maker['rows'];

/** Returns the maker of one layer's errors. `ErrorRows` must have its rows. */
export function errorMaker<const Rows extends Readonly<Record<string, ErrorRow>>>(
  rows: Rows,
): ErrorMaker<Rows> {
  const make = (code: keyof Rows & ErrorCode, details: ErrorDetails, options?: ErrorOptions) => {
    const error = new SluiceError(code, rows[code], details, options);
    Error.captureStackTrace?.(error, make); // the stack begins where the error was asked for
    return error;
  };
  return Object.assign(make, { rows });
}

const told: { [Code in keyof KernelErrors]?: ErrorRow } = {};

/** Brings the sentences of the kernel's errors. `sluice-kernel/core` does without. */
export function tellErrors(rows: KernelErrors): void {
  Object.assign(told, rows);
}

/** Makes an error of the kernel. */
export const kernelError = errorMaker(told as KernelErrors); // an error lacks the sentences of a row that was not told

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

function bare(code: ErrorCode, details: ErrorDetails): string {
  const said = Object.entries(details).map(([name, value]) => `${name} ${value}`);
  return `${code}: ${said.join(', ')}`;
}

/** Puts values into a text, where it has their names in braces. */
export function fill(text: string, details: ErrorDetails): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''));
}
