import { csdkError } from '@sluice/claude/errors';
import { hostError } from '@sluice/host/errors';
import { journalError } from '@sluice/journal/errors';
import { legacyError } from '@sluice/openclaw/errors';
import { gatewayError } from '@sluice/openclaw/gateway/errors';
import { channelError } from '@sluice/sdk/channel/errors';
import { extensionError } from '@sluice/sdk/extension/errors';
import { streamError } from '@sluice/sdk/stream/errors';
import { type KernelErrors, kernelErrors } from 'sluice-kernel/error-rows';
import type { RowsOf } from 'sluice-kernel/internal';

/** The rows of all layers. */
export interface ErrorTable
  extends KernelErrors,
    RowsOf<typeof extensionError>,
    RowsOf<typeof streamError>,
    RowsOf<typeof legacyError>,
    RowsOf<typeof csdkError>,
    RowsOf<typeof gatewayError>,
    RowsOf<typeof channelError>,
    RowsOf<typeof hostError>,
    RowsOf<typeof journalError> {}

/**
 * Every error code with its row: the meaning, the cause and the cure.
 *
 * @example
 * errorTable['permit-used'].hint;
 */
export const errorTable: ErrorTable = {
  ...kernelErrors,
  ...extensionError.rows,
  ...streamError.rows,
  ...legacyError.rows,
  ...csdkError.rows,
  ...gatewayError.rows,
  ...channelError.rows,
  ...hostError.rows,
  ...journalError.rows,
};
