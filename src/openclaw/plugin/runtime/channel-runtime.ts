import type { PayloadOf } from 'sluice-kernel';
import { isReservedCommand } from '../api/register-rest.js';
import type { Registering } from '../api/registering.js';
import * as commands from '../channel/commands.js';
import * as groupPolicies from '../channel/groups.js';
import { activityOf, debounceOf, sessionsOf } from '../channel/memory.js';
import * as mentions from '../channel/mentions.js';
import { pairingOf } from '../channel/pairing.js';
import { buildAgentSessionKey, resolveAgentRoute } from '../channel/routing.js';
import * as texts from '../channel/texts.js';
import { channelMedia } from './channel-media.js';
import { inboundOf } from './inbound.js';
import { replyOf } from './reply.js';
import { withStandIns } from './with-stand-ins.js';

/**
 * `api.runtime.channel` of a plugin (spec §17.18). A function or a group that is not there is a stand-in, which refuses by name:
 * so are those of single providers, such as `telegram`.
 */
export function channelRuntimeOf(plugin: Registering): object {
  const { clock, stateDir, refusals, kernel, report } = plugin;
  const hasControlCommand = (text: unknown): boolean =>
    commands.isCommandLine(text, (name) => isReservedCommand(name) || hasCommand(plugin, name));
  const { shouldAckReaction, removeAckReactionAfterReply, ...named } = mentions;
  const { shouldHandleTextCommands, resolveCommandAuthorizedFromAuthorizers } = commands;
  const requested = (request: PayloadOf<'account.pairing.requested'>): void => {
    const told = kernel.dispatch('account.pairing.requested', request);
    told.catch((error: unknown) => report('error', 'a request to be paired is not told', error));
  };
  const reply = replyOf(plugin);
  const inbound = inboundOf(reply);
  const groups = {
    text: { ...texts, hasControlCommand },
    reply,
    ...{ inbound, turn: inbound }, // `turn` is its older name
    routing: { buildAgentSessionKey, resolveAgentRoute },
    pairing: pairingOf(clock, stateDir, requested),
    media: channelMedia(stateDir),
    activity: activityOf(clock),
    session: sessionsOf(clock, stateDir),
    mentions: named,
    reactions: { shouldAckReaction, removeAckReactionAfterReply },
    groups: { ...groupPolicies },
    debounce: debounceOf(clock),
    commands: {
      shouldHandleTextCommands,
      resolveCommandAuthorizedFromAuthorizers,
      isControlCommandMessage: hasControlCommand,
      shouldComputeCommandAuthorized: (text: unknown): boolean =>
        hasControlCommand(text) || commands.mayHoldCommand(text),
    },
  };
  const standIn = refusals.part('api.runtime.channel') as Readonly<Record<string, object>>; // it has every member
  const filled = Object.entries(groups).map(
    ([name, group]) => [name, withStandIns(group, () => standIn[name] ?? {})] as const,
  );
  return withStandIns(Object.fromEntries(filled), () => standIn);
}

function hasCommand({ commands: own }: Registering, name: string): boolean {
  return own.some((command) => command.name.trim().toLowerCase() === name);
}
