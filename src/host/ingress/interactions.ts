import { Trail } from '@sluice/agent';
import { type Ending, endOf, stopped } from '@sluice/journal/internal';
import type { DecodedIngress, Interaction } from '@sluice/sdk/channel';
import { definedFields, type Kernel, type Outcome, type PayloadOf } from 'sluice-kernel/internal';
import { endUnrouted, withCancelReply } from '../egress/cancel-reply.js';
import { replyTo } from '../egress/reply.js';
import type { Place } from '../lanes/slots.js';
import type { FencedParts } from '../parts/parts.js';
import { refsOf } from '../parts/refs.js';
import type { RunningAccount } from '../provided/accounts.js';
import { parseCommandLine } from '../provided/commands.js';
import { type RoutedMessage, routeMessage } from '../session/routing.js';
import { takePress } from './answers.js';
import { principalOf, provenSender } from './principal.js';
import { runInSession } from './run-chat-command.js';

type CommandUsed = Extract<DecodedIngress, { kind: 'command' }>;
type Used = Extract<DecodedIngress, { kind: 'interaction' }> | CommandUsed;
type Fields = Omit<PayloadOf<'interaction.received'>, 'raw'>;

/** The end of an interaction, and what `interaction.completed` tells of it. */
interface Done {
  readonly ending: Ending;
  readonly told: Pick<PayloadOf<'interaction.completed'>, 'success' | 'error'>;
}

/**
 * Checks an interaction that a channel has decoded: it comes from outside.
 *
 * @returns it, frozen, or why it cannot be read.
 * @throws SluiceError `invalid-payload`.
 */
export function checkInteraction(kernel: Kernel, used: Used, raw: unknown): DecodedIngress {
  const interaction = kernel.parsePayload('interaction.received', { ...used.interaction, raw });
  if (used.kind === 'interaction') return { ...used, interaction };
  const message = kernel.parsePayload('ingress.normalized', {
    ...used.message,
    commandSource: 'native',
  });
  if (parseCommandLine(message.content) !== undefined) return { ...used, interaction, message };
  return { kind: 'undecodable', problem: 'it is no command line', path: '/message/content' };
}

/**
 * Takes an interaction to its end: `interaction.received`, `interaction.resolved` once it is known what it is, and
 * `interaction.completed` when that was done. A command is routed as a message would be, runs between
 * `command.received` and `command.completed`, and is answered. Of a press the host does nothing itself: it sends what
 * handlers reply to it. Neither is an `ingress.normalized` (spec §19).
 */
export async function carryInteraction(
  parts: FencedParts,
  { received, account }: { readonly received: Outcome; readonly account: RunningAccount },
  used: Used,
  place: Place,
): Promise<Ending> {
  const { raw: _, ...fields } = used.interaction;
  const startedAtMs = parts.clock.now();
  const { channel, conversationId } = fields;
  const at = refsOf(channel, conversationId, fields);
  const trail = new Trail(parts.kernel, received, at);
  await trail.dispatch('interaction.received', used.interaction, { signal: parts.signal });
  if (parts.signal.aborted) return stopped;
  const done =
    used.kind === 'command'
      ? await doCommand(parts, trail, used, fields, place)
      : await doPress(parts, trail, fields, {
          sender: provenSender(account, used),
          principal: principalOf(parts, account, used),
        });
  const { agentId, sessionKey } = done.ending;
  await trail.dispatch('interaction.completed', {
    ...fields,
    ...definedFields({ agentId, sessionKey }),
    ...done.told,
    durationMs: Math.max(0, parts.clock.now() - startedAtMs),
  });
  return done.ending;
}

async function doCommand(
  parts: FencedParts,
  trail: Trail,
  used: CommandUsed,
  fields: Fields,
  place: Place,
): Promise<Done> {
  const { raw: _raw, config: _config, ...message } = used.message;
  const line = parseCommandLine(message.content) ?? { name: fields.name, args: fields.values };
  const routing = await routeMessage(parts, trail, message, used.route);
  if (parts.signal.aborted) return failed(stopped);
  if (routing.status !== 'routed') {
    await trail.dispatch('interaction.resolved', { ...fields, resolution: 'ignored' });
    return failed(await endUnrouted(parts, trail, message, routing));
  }
  const { agent, sessionKey } = routing;
  const by = { agentId: agent.id, sessionKey };
  await trail.dispatch('interaction.resolved', {
    ...fields,
    ...by,
    resolution: 'command',
    commandName: line.name,
    explicit: true,
  });
  const { ending, success } = await runInSession(parts, trail, routing, message, line, place);
  const { reason } = ending;
  return {
    ending: { ...ending, ...by },
    told: { success, ...definedFields({ error: reason }) },
  };
}

async function doPress(
  parts: FencedParts,
  trail: Trail,
  fields: Fields,
  by: Pick<Parameters<typeof takePress>[1], 'sender' | 'principal'>,
): Promise<Done> {
  const eventId = trail.correlationId ?? '';
  const press = await takePress(parts, { eventId, ...by }, fields);
  const questionId = press?.questionId;
  const resolved = await trail.dispatch('interaction.resolved', {
    ...fields,
    ...(questionId === undefined
      ? { resolution: 'ignored' as const }
      : { resolution: 'answer' as const, questionId }),
  });
  const status = questionId === undefined ? 'interaction' : 'answer';
  const replies = resolved.annotations.replies ?? [];
  const content = (press?.text === undefined ? replies : [press.text, ...replies]).join('\n\n');
  const message = placeOf(fields);
  if (content === '' || message === undefined || parts.signal.aborted)
    return { ending: { status, sends: [] }, told: { success: true } };
  const send = await replyTo(parts, trail, message, { kind: 'reply', content }, parts.signal);
  if (send.status === 'sent' || questionId !== undefined)
    return { ending: { status, sends: [send] }, told: { success: true } };
  const ending = { ...endOf([send]), sends: [send] };
  return failed(await withCancelReply(parts, trail, message, ending));
}

function failed(ending: Ending): Done {
  const { reason } = ending;
  return { ending, told: { success: false, ...definedFields({ error: reason }) } };
}

/** Finds the place where a press is answered; none, if the press does not say where it was. */
function placeOf(interaction: Omit<Interaction, 'raw'>): RoutedMessage | undefined {
  const { channel, accountId, conversationId, threadId, messageId, isGroup, sender } = interaction;
  if (conversationId === undefined) return undefined;
  return {
    channel,
    ...definedFields({ accountId }),
    from: conversationId,
    conversationId,
    ...definedFields({ threadId, messageId, isGroup, sender }),
    content: '',
    attachments: [],
    metadata: {},
  };
}
