import { type Fields, isFields, textField } from './frame.js';

/** Says if a result tells of a failure: by its flag, or by a subtype that starts with `error`. */
export function isErrorResult(result: Fields): boolean {
  return Boolean(result.is_error) || textField(result, 'subtype')?.startsWith('error') === true;
}

/** The errors of a result that are meant for people: the SDK's own diagnostics among them are for its authors. */
export function toldErrors({ errors }: Fields): readonly string[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(
    (error): error is string =>
      typeof error === 'string' && error !== '' && !error.startsWith('[ede_diagnostic]'),
  );
}

/** Says if someone stopped the turn. The SDK calls such a result an error, and its `terminal_reason` tells them apart. */
export function isInterruptedResult(result: Fields): boolean {
  return textField(result, 'terminal_reason')?.startsWith('aborted_') === true;
}

/** Says if something else than the run's own prompt began the turn of a result, such as a background task. */
export function isOthersResult({ origin }: Fields): boolean {
  return isFields(origin) && origin.kind !== 'human';
}

/**
 * Says if a result before which the model has not spoken is of no turn: the SDK has such ones when it resumes a session. A failure
 * is one, and so is a command that the SDK ran itself.
 */
export function isOfNoTurn(result: Fields): boolean {
  return (
    result.num_turns === 0 &&
    textField(result, 'local_command') === undefined &&
    !isErrorResult(result) &&
    !isInterruptedResult(result)
  );
}

/**
 * Names a failed result: its subtype if that names an error, else why the turn ended, else `error`. The SDK
 * writes the subtype `success` also on a result whose `is_error` is true (csdk §6.6).
 *
 * @example
 * failureCode({ subtype: 'success', is_error: true, terminal_reason: 'api_error' }); // 'api_error'
 */
export function failureCode(result: Fields): string {
  const subtype = textField(result, 'subtype');
  if (subtype?.startsWith('error') === true) return subtype;
  const reason = textField(result, 'terminal_reason');
  return reason === undefined || reason === '' || reason === 'completed' ? 'error' : reason;
}
