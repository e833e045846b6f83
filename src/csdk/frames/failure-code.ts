import { textField } from './frame.js';

/**
 * Names a failed result: its subtype if that names an error, else why the turn ended, else `error`. The SDK
 * writes the subtype `success` also on a result whose `is_error` is true (csdk §6.6).
 *
 * @example
 * failureCode({ subtype: 'success', is_error: true, terminal_reason: 'api_error' }); // 'api_error'
 */
export function failureCode(result: Readonly<Record<string, unknown>>): string {
  const subtype = textField(result, 'subtype');
  if (subtype?.startsWith('error') === true) return subtype;
  const reason = textField(result, 'terminal_reason');
  return reason === undefined || reason === '' || reason === 'completed' ? 'error' : reason;
}
