import { same } from '../facts/field-table.js';
import { voidHook } from './make-row.js';
import type { LegacyGatewayContext } from './shapes.js';

/** The hooks of the gateway. */
export const gatewayHooks = {
  gateway_start: voidHook('gateway.started')<{ port: number }, LegacyGatewayContext>({
    why: 'The same moment: when messages can come. A host without a port says 0.',
    event: { port: { to: 'port', show: ({ port = 0 }) => port } },
    context: { port: { show: ({ port = 0 }) => port } },
  }),
  gateway_stop: voidHook('gateway.stopping')<{ reason?: string }, LegacyGatewayContext>({
    why: 'The same moment: when the host begins to drain.',
    event: same('reason'),
    context: same('port'),
  }),
};
