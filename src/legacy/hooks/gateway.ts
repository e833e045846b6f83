import { definedFields, type PayloadOf } from '../../kernel/index.js';
import { voidHook } from './make-row.js';
import { payloadOf } from './run-context.js';
import type { LegacyGatewayContext } from './shapes.js';

/** The hooks of the gateway. */
export const gatewayHooks = {
  gateway_start: voidHook<{ port: number }, LegacyGatewayContext>({
    parts: [{ family: 'gateway.started', class: 'observer' }],
    why: 'The same moment: when messages can come. A host without a port says 0.',
    announce: ({ port }) => [
      { family: 'gateway.started', payload: definedFields({ port }), given: {} },
    ],
    view: (envelope) => {
      const { port = 0 } = payloadOf<PayloadOf<'gateway.started'>>(envelope);
      return { event: { port }, ctx: { port } };
    },
  }),
  gateway_stop: voidHook<{ reason?: string }, LegacyGatewayContext>({
    parts: [{ family: 'gateway.stopping', class: 'observer' }],
    why: 'The same moment: when the host begins to drain.',
    announce: ({ reason }, { port }) => [
      { family: 'gateway.stopping', payload: definedFields({ reason, port }), given: {} },
    ],
    view: (envelope) => {
      const { reason, port } = payloadOf<PayloadOf<'gateway.stopping'>>(envelope);
      return { event: definedFields({ reason }), ctx: definedFields({ port }) };
    },
  }),
};
