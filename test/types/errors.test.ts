import { describe, expectTypeOf, it } from 'vitest';
import { csdkError } from '../../src/claude/errors.js';
import { journalError } from '../../src/journal/errors.js';
import {
  type ErrorCode,
  errorMaker,
  isSluiceError,
  kernelError,
} from '../../src/kernel/internal.js';
import { gatewayError } from '../../src/openclaw/gateway/errors.js';
import type { errorTable } from '../support/error-table.js';

/** Each body compiles, and is never run: the compiler is the test. */
const compiles = (_body: () => unknown): void => undefined;

const row = { message: 'm.', cause: 'c.', hint: 'h.' };

describe('the codes of errors', () => {
  it('are those of the published table, and no others', () => {
    expectTypeOf<ErrorCode>().toEqualTypeOf<keyof typeof errorTable>();
  });

  it('are made by the layer that has the row', () => {
    compiles(() => [
      kernelError('bad-option', {}),
      gatewayError('client-stopped', {}),
      csdkError('missing-package', {}),
      journalError('database-full', {}),
      // @ts-expect-error a row of the host
      kernelError('database-full', {}),
      // @ts-expect-error a row of the gateway
      journalError('client-stopped', {}),
      // @ts-expect-error misspelt
      journalError('database-ful', {}),
    ]);
  });

  it('are read as one union from an error of any layer', () => {
    compiles(() => (error: unknown) => {
      if (!isSluiceError(error)) return false;
      expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
      // @ts-expect-error no layer has the code
      if (error.code === 'database-ful') return true;
      return error.code === 'database-full' || error.code === 'bad-option';
    });
  });

  it('are refused to rows that no layer has merged into ErrorRows', () => {
    // @ts-expect-error ErrorRows has no such row
    compiles(() => errorMaker({ 'database-ful': row })('database-ful', {}));
    compiles(() => errorMaker({ 'database-full': row })('database-full', {}));
  });
});
