import { payloadFields, recordOf, same } from '../facts/field-table.js';
import { copyFiles } from './bootstrap-files.js';
import { hookRow, type InternalHookRow, sink } from './row.js';
import { commandRows } from './rows-command.js';
import { messageRows } from './rows-message.js';
import { sessionRows } from './rows-session.js';

const bootstrapTable = {
  ...same('workspaceDir', 'sessionKey', 'sessionId', 'agentId'),
  cfg: 'config',
};

const bootstrap = hookRow({
  type: 'agent',
  action: 'bootstrap',
  awaited: true,
  ownEventOnly: true,
  sinks: [
    sink('agent.prompt.building', 'mutator', (payload) => {
      const { sessionKey, sessionId, bootstrapFiles = [] } = payload;
      const told = recordOf<Record<string, unknown>>(bootstrapTable, payload);
      return {
        sessionKey: sessionKey ?? sessionId ?? 'unknown',
        context: { ...told, bootstrapFiles: copyFiles(bootstrapFiles) },
      };
    }),
  ],
  why: 'A trigger is not dispatched: the legacy run dispatches agent.prompt.building a moment later through before_prompt_build, and every handler there would run twice. In a host of this project its handlers run in that dispatch.',
});

const startupTable = { cfg: 'config', deps: 'dependencies', ...same('workspaceDir') };

const startup = hookRow({
  type: 'gateway',
  action: 'startup',
  awaited: false,
  ownEventOnly: true,
  source: ({ context }) => [
    {
      family: 'gateway.started',
      payload: payloadFields<Record<string, unknown>>(startupTable, context),
    },
  ],
  sinks: [
    sink('gateway.started', 'observer', (payload) => ({
      sessionKey: 'gateway:startup',
      context: recordOf<Record<string, unknown>>(startupTable, payload),
    })),
  ],
  why: 'The same start as the plugin hook gateway_start: one canonical event. Its handlers need the configuration, which that hook does not have, and so wait for their own event.',
});

/** Every key that the legacy system fires on its internal hook bus, as data (seed 004, bridge requirement). */
export const internalHookRows: readonly InternalHookRow[] = [
  ...commandRows,
  ...sessionRows,
  bootstrap,
  startup,
  ...messageRows,
];

/** The row of an event, or nothing if the pipeline has no family for it. */
export function rowOf(type: string, action: string): InternalHookRow | undefined {
  return internalHookRows.find((row) => row.type === type && row.action === action);
}
