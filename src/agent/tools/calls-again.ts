import {
  type AgentRequest,
  type AgentTool,
  isSessionMessage,
  modelMessages,
  type SessionEvent,
  type ToolCall,
  type TranscriptEntry,
} from '@sluice/sdk/stream';
import { openCalls, withoutCalls } from '@sluice/sdk/stream/internal';

/** The part of a request that tells of the work before it. */
export type Begun = Pick<AgentRequest, 'begun' | 'callsAgain'>;

/**
 * Parts what a cut-off turn has written: what any model takes, and the calls that a person was asked about and that have no result.
 * These did not run, as far as is known, and are made again (judgement §4.34).
 *
 * @param isAsked returns whether a person was asked about a call, by its id.
 */
export function partBegun(
  entries: readonly TranscriptEntry[] | undefined,
  isAsked: (toolCallId: string) => boolean,
): Begun {
  if (entries === undefined) return {};
  const begun = entries.filter(isSessionMessage);
  const open = openCalls(begun);
  /** Asked about as itself, or as the call before it that it makes again. */
  const wasAsked = (call: (typeof open)[number]['call']): boolean =>
    isAsked(call.id) || open.some((one) => one.madeAgainBy === call && wasAsked(one.call));
  const repeated = open.flatMap(({ call, madeAgainBy }) => (madeAgainBy ? [call] : []));
  const again = open.flatMap(({ call }) =>
    !repeated.includes(call) && !('withheld' in call) && wasAsked(call) ? [call] : [],
  );
  const callsAgain = again.map(({ id, name, arguments: args }) => ({
    ...{ toolCallId: id, toolName: name, args },
  }));
  return {
    begun: modelMessages(withoutCalls(begun, [...repeated, ...again])),
    ...(callsAgain.length > 0 && { callsAgain }),
  };
}

/** Makes a call with a tool of the host, and tells of it as its provider would. Each step waits for the one before. */
export async function makeAgain(
  { toolCallId, toolName, args }: ToolCall,
  tool: AgentTool,
  take: (event: SessionEvent) => Promise<void>,
): Promise<void> {
  await take({ type: 'tool_execution_start', toolCallId, toolName, args });
  const { content, isError } = await tool.call({ toolCallId, args });
  const result = { content };
  await take({ type: 'tool_execution_end', toolCallId, toolName, result, isError });
}
