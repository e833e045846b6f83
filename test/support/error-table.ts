import { csdkError } from '../../src/claude/errors.js';
import { hostError } from '../../src/host/errors.js';
import { journalError } from '../../src/journal/errors.js';
import { kernelErrors } from '../../src/kernel/error-rows.js';
import { legacyError } from '../../src/openclaw/errors.js';
import { gatewayError } from '../../src/openclaw/gateway/errors.js';
import { channelError } from '../../src/sdk/channel/errors.js';
import { extensionError } from '../../src/sdk/extension/errors.js';
import { streamError } from '../../src/sdk/stream/errors.js';

/** The rows of all layers. */
export const errorTable = {
  ...{ ...kernelErrors, ...extensionError.rows, ...streamError.rows, ...legacyError.rows },
  ...{ ...csdkError.rows, ...gatewayError.rows, ...channelError.rows, ...hostError.rows },
  ...journalError.rows,
};
