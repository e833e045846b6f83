import { isFields, textField } from './frame.js';

type Fields = Readonly<Record<string, unknown>>;

/** Whether a result tells of a failure: by its flag, or by a subtype that starts with `error`. */
export function isErrorResult(result: Fields): boolean {
  return Boolean(result.is_error) || textField(result, 'subtype')?.startsWith('error') === true;
}

/** Whether someone stopped the turn. The SDK calls such a result an error; its `terminal_reason` tells. */
export function isInterruptedResult(result: Fields): boolean {
  return textField(result, 'terminal_reason')?.startsWith('aborted_') === true;
}

/** Whether a result is of a turn that a background task began. */
export function isBackgroundResult({ origin }: Fields): boolean {
  return isFields(origin) && origin.kind === 'task-notification';
}
