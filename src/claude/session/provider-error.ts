import type { ProviderError } from '@sluice/sdk/stream';
import { type CsdkFrame, textField } from '../frames/frame.js';

/**
 * Reads from an assistant frame a failure of the model's provider: the SDK writes its text in the place of an answer
 * (csdk §3.12). Nothing for a frame of the model.
 */
export function providerErrorOf(frame: CsdkFrame): ProviderError | undefined {
  const named = textField(frame, 'error') ?? textField(frame, 'api_error_type');
  if (named === undefined && frame.is_api_error_message !== true) return undefined;
  const status = frame.api_error_status;
  return { code: named ?? 'unknown', ...(typeof status === 'number' && { httpStatus: status }) };
}
