import { allow, type Call, cancel, defineExtension } from 'sluice';
import { parseCommandLine, sessionKeyOf } from 'sluice/host';
import { begin, type Excess, release, reserve, settle } from './account.js';
import { openAccounts } from './accounts.js';
import { budgetCommand, budgetTexts } from './budget-command.js';
import { chargeOf } from './charge.js';
import { config, type Settings } from './config.js';
import { conversationOf, digest, type Place, type Whose } from './places.js';
import { runningRuns } from './running-runs.js';

/** Behind the other vetoes and the resolvers: what they refuse reserves nothing, and the route is known. */
const last = -1_000;

/** Caps what principals, sessions and agents may spend in a day. The README has the settings. */
export default defineExtension({
  id: 'budget',
  manifest: {
    version: '0.2.0',
    sluice: '~0.2.0',
    grants: ['veto:routing.resolving', 'provide:command'],
  },
  config,
  setup(api, settings) {
    const accounts = openAccounts(api, settings);
    const sayTo = api.texts(budgetTexts);
    const runs = runningRuns();
    const { estimate, failClosed } = settings;

    /** Reserves under each cap, or under none. */
    const reserveAll = async (
      places: readonly Place[],
      id: string,
    ): Promise<{ place: Place; excess: Excess } | undefined> => {
      for (const place of places) {
        let excess: Excess | undefined;
        await accounts.change(place, (account, nowMs) => {
          const result = reserve(account, { id, nowMs }, estimate, place.cap);
          excess = 'unit' in result ? result : undefined;
          return 'unit' in result ? undefined : result;
        });
        if (excess === undefined) continue;
        for (const taken of places) // also those of an earlier judgement of the message
          await accounts.change(taken, (account, nowMs) => release(account, { id, nowMs }));
        return { place, excess };
      }
      return undefined;
    };

    api.veto('routing.resolving', 'caps', { failClosed, priority: last }, async (call) => {
      if (parseCommandLine(call.payload.message.content) !== undefined) return allow();
      const places = accounts.of(whoseMessage(call));
      const refusal = await reserveAll(places, digest(call.event.correlationId));
      if (refusal === undefined) return allow();
      const { reply = sayTo(call.payload.message)('used-up') } = settings;
      return refused(refusal, settings, accounts.today(), reply);
    });

    api.observe('agent.starting', 'begin', async ({ event, payload, principal }) => {
      const { runId, agentId, sessionKey } = payload;
      runs.started(runId);
      const id = digest(event.correlationId);
      const whose = { principal, conversation: conversationOf(event), agentId, sessionKey };
      await accounts.changeAll(whose, (account, nowMs) =>
        begin(account, { id, nowMs }, { runId, estimate, runs: runs.has }),
      );
    });

    api.observe('agent.llm.input', 'model', ({ payload }) =>
      runs.called(payload.runId, payload.model),
    );

    api.observe('agent.completed', 'settle', async ({ event, payload, principal }) => {
      const { runId, agentId, sessionKey } = payload;
      const run = { runId, ...chargeOf(payload, runs.ended(runId), settings) };
      const id = digest(event.correlationId);
      const whose = { principal, conversation: conversationOf(event), agentId, sessionKey };
      await accounts.changeAll(whose, (account, nowMs) => settle(account, { id, nowMs }, run));
    });

    api.provide('command', budgetCommand(accounts, api.clock, sayTo));
  },
});

/** Finds the one who brings a message, and the route so far. */
function whoseMessage(call: Call<'routing.resolving'>): Whose {
  const { event, payload, principal, selection } = call;
  const { agentId, sessionKey } = payload.explicitRoute ?? selection?.target ?? {};
  return {
    principal,
    conversation: conversationOf(event),
    agentId,
    sessionKey: agentId && (sessionKey ?? sessionKeyOf(agentId, payload.message)),
  };
}

function refused(
  { place, excess }: { readonly place: Place; readonly excess: Excess },
  { estimate, timeZone }: Settings,
  day: string,
  reply: string | false,
) {
  const { unit, limit, used, reserved } = excess;
  const reason = {
    text: `${place.capName}: of ${limit} ${unit} on ${day}, ${used} are used and ${reserved} are reserved`,
    details: { cap: place.capName, unit, limit, used, reserved, estimate, day, timeZone },
  };
  return cancel('budget-exceeded', { ...reason, ...(reply !== false && { reply }) });
}
