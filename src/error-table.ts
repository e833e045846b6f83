import { type CsdkErrors, csdkErrors } from './claude/errors.js';
import { type HostErrors, hostErrors } from './host/errors.js';
import { type JournalErrors, journalErrors } from './journal/errors.js';
import { type KernelErrors, kernelErrors } from './kernel/index.js';
import { type LegacyErrors, legacyErrors } from './openclaw/errors.js';
import { type GatewayErrors, gatewayErrors } from './openclaw/gateway/errors.js';
import { type ChannelErrors, channelErrors } from './sdk/channel/errors.js';
import { type ExtensionErrors, extensionErrors } from './sdk/extension/errors.js';
import { type StreamErrors, streamErrors } from './sdk/stream/errors.js';

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
