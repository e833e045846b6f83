import type { Trail } from '@sluice/agent';
import type { Ending } from '@sluice/journal/internal';
import { placeOf } from '@sluice/sdk/extension';
import { nodeSignal } from '@sluice/sdk/stream/internal';
import { definedFields, oneLine, type Principal } from 'sluice-kernel/internal';
import { guarded } from '../egress/cancel-reply.js';
import { type Reply, replyTo } from '../egress/reply.js';
import type { Place } from '../lanes/slots.js';
import type { FencedParts } from '../parts/parts.js';
import { type ChatAnswer, refusal } from '../provided/chat-commands.js';
import { type parseCommandLine, runCommand } from '../provided/commands.js';
import { inSession } from '../session/in-session.js';
import { laneOfPlace, type Route, type RoutedMessage } from '../session/routing.js';
import { resetSession } from '../session/sessions.js';

type CommandLine = NonNullable<ReturnType<typeof parseCommandLine>>;

/** Runs a command in its turn in the session, or at once if it waits for no turn. Returns as `runChatCommand`. */
export async function runInSession(
  parts: FencedParts,
  trail: Trail,
  { agent: { id: agentId }, sessionKey }: Route,
  message: RoutedMessage,
  line: CommandLine,
  place: Place,
): Promise<{ readonly ending: Ending; readonly success: boolean }> {
  let success = false;
  const run = (): Promise<Ending> =>
    guarded(parts, trail, message, async () => {
      const end = await runChatCommand(parts, trail, { agentId, sessionKey }, message, line);
      success = end.success;
      return end.ending;
    });
  const isAtOnce = parts.commands.get(line.name)?.runsAtOnce === true;
  const eventId = trail.correlationId ?? '';
  const ending = await (isAtOnce ? run() : inSession(parts, place, { eventId, sessionKey }, run));
  return { ending, success };
}

/**
 * Runs a command that came in a chat, and answers with what it says: through egress, like any reply. An unknown
 * command, and one that its sender may not give, is answered so.
 *
 * @returns how its message ended, and whether the command did what it was asked: its answer may not have been sent.
 */
async function runChatCommand(
  parts: FencedParts,
  trail: Trail,
  route: { readonly agentId: string; readonly sessionKey: string },
  message: RoutedMessage,
  line: CommandLine,
): Promise<{ readonly ending: Ending; readonly success: boolean }> {
  const { agentId, sessionKey } = route;
  const say = parts.texts.to(message);
  const surface = message.surface ?? message.channel;
  const isAuthorized = message.commandAuthorized !== false;
  const senderId = message.sender?.id;
  const accountId = trail.last?.event.accountRef?.id ?? message.accountId ?? 'default';
  const session = await parts.store.loadSession(sessionKey);
  if (session !== undefined) trail.carry({ sessionId: session.sessionId });

  const reply = (said: Pick<Reply, 'content' | 'attachments' | 'metadata'>) =>
    replyTo(parts, trail, message, { kind: 'reply', agentId, sessionKey, ...said }, parts.signal);
  const run = async (principal: Principal | undefined): Promise<ChatAnswer> => {
    const command = parts.commands.get(line.name);
    if (command === undefined) return refusal(say('command-unknown', line));
    if (!isAuthorized && command.forAnyone !== true) return refusal(say('command-refused', line));
    const answer = await command.run({
      args: line.args,
      sessionKey,
      agentId,
      accountId,
      eventId: trail.correlationId ?? '',
      message,
      place: placeOf({ ...message, accountId }),
      signal: nodeSignal(parts.signal),
      reply: (text) => reply({ content: text }),
      isAuthorized,
      ...definedFields({ principal }),
      resetSession: (reason) =>
        resetSession(parts, trail, sessionKey, {
          reason,
          surface,
          ...definedFields({ senderId }),
        }).catch((error: unknown) => {
          parts.suspension?.by(error); // the command may hide it
          throw error;
        }),
      stopTurn: () => {
        const isRunning = parts.turns.has(sessionKey);
        parts.turns.abort(sessionKey);
        const lane = laneOfPlace(message.channel, accountId, message);
        return parts.batches?.stop(lane) === true || isRunning;
      },
      commands: [...parts.commands.values()],
    });
    return typeof answer === 'string' ? { text: answer } : answer;
  };

  const { value, error, replies, success } = await runCommand(
    parts.kernel,
    definedFields({
      ...line,
      text: message.content,
      source: message.commandSource === 'native' ? ('native' as const) : ('chat' as const),
      surface,
      agentId,
      sessionKey,
      sessionId: session?.sessionId,
      channel: message.channel,
      accountId: message.accountId,
      conversationId: message.conversationId,
      threadId: message.threadId,
      messageId: message.messageId,
      senderId,
      isAuthorized,
      targetSessionKey: message.targetSessionKey,
    }),
    run,
    {
      trail,
      clock: parts.clock,
      describe: ({ text, error: problem }) =>
        problem === undefined ? { result: text } : { error: problem },
    },
  );
  // §16.18: what was thrown is for the log and the journal
  const text = value?.text ?? say('command-failed', line);
  const content = [text, ...replies].filter((part) => part !== '').join('\n\n');
  if (value === undefined) parts.logger.error(`"/${line.name}" failed`, { surface, error });
  const { attachments = [], metadata } = value ?? {};
  if (content === '' && attachments.length === 0)
    return { ending: { status: 'command', sends: [] }, success };
  const send = await reply({
    content,
    attachments,
    ...(metadata !== undefined && { metadata: { ...metadata } }),
  });
  const why = value === undefined ? `"/${line.name}" failed: ${oneLine(error)}` : undefined;
  const ending = {
    status:
      why !== undefined || send.status === 'failed' ? ('failed' as const) : ('command' as const),
    ...definedFields({ reason: why ?? send.error }),
    sends: [send],
  };
  return { ending, success };
}
