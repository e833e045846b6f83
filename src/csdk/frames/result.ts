import { type Fields, isFields, textField } from './frame.js';

/** Says if a result tells of a failure: by its flag, or by a subtype that starts with `error`. */
export function isErrorResult(result: Fields): boolean {
  return Boolean(result.is_error) || textField(result, 'subtype')?.startsWith('error') === true;
}

/** Says if someone stopped the turn. The SDK calls such a result an error, and its `terminal_reason` tells them apart. */
export function isInterruptedResult(result: Fields): boolean {
  return textField(result, 'terminal_reason')?.startsWith('aborted_') === true;
}

/** Says if a background task began the turn of a result. */
export function isBackgroundResult({ origin }: Fields): boolean {
  return isFields(origin) && origin.kind === 'task-notification';
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
