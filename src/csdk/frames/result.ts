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
