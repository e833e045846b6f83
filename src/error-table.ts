import { type CsdkErrors, csdkErrors } from '@sluice/claude/errors';
import { type HostErrors, hostErrors } from '@sluice/host/errors';
import { type JournalErrors, journalErrors } from '@sluice/journal/errors';
import { type LegacyErrors, legacyErrors } from '@sluice/openclaw/errors';
import { type GatewayErrors, gatewayErrors } from '@sluice/openclaw/gateway/errors';
import { type ChannelErrors, channelErrors } from '@sluice/sdk/channel/errors';
import { type ExtensionErrors, extensionErrors } from '@sluice/sdk/extension/errors';
import { type StreamErrors, streamErrors } from '@sluice/sdk/stream/errors';
import { type KernelErrors, kernelErrors } from 'sluice-kernel/error-rows';

/** The rows of all layers. */
export interface ErrorTable
  extends KernelErrors,
    ExtensionErrors,
    StreamErrors,
    LegacyErrors,
    CsdkErrors,
    GatewayErrors,
    ChannelErrors,
    HostErrors,
    JournalErrors {}

/**
 * Every error code with its row: the meaning, the cause and the cure.
 *
 * @example
 * errorTable['permit-used'].hint;
 */
export const errorTable: ErrorTable = {
  ...kernelErrors,
  ...extensionErrors,
  ...streamErrors,
  ...legacyErrors,
  ...csdkErrors,
  ...gatewayErrors,
  ...channelErrors,
  ...hostErrors,
  ...journalErrors,
};
