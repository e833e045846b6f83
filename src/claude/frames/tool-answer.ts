import { type CsdkBlock, isFields, isTyped, textField } from './frame.js';

/** A tool's answer to a call. */
export interface ToolAnswer {
  /** The id of the call; empty if the frame names none. */
  readonly callId: string;
  /** The tool's own structured result; nothing if the frame does not say whose it is. */
  readonly structured: unknown;
  /** The text or the blocks that the model reads. */
  readonly content: unknown;
  readonly isError: boolean;
  /** The call goes on in the background; its result comes later. */
  readonly isDetached: boolean;
  /** The call has launched a subagent in the background: the SDK's default since 0.3.330. */
  readonly isLaunch: boolean;
}

/** The answers among the blocks of a user's frame. */
export function toolAnswers(
  blocks: readonly CsdkBlock[],
  toolUseResult: unknown,
): readonly ToolAnswer[] {
  const answers = blocks.filter(({ type }) => type === 'tool_result');
  // The structured twin does not name its call: among several results it could be any one's.
  const structured = answers.length === 1 ? toolUseResult : undefined;
  return answers.map((block) => toolAnswer(block, structured));
}

/** The answer that a block is: a tool's result or, without a structured twin, the result of a provider's tool. */
export function toolAnswer(block: CsdkBlock, structured?: unknown): ToolAnswer {
  const { content } = block;
  const says = isFields(structured) ? structured : {};
  return {
    callId: textField(block, 'tool_use_id') ?? '',
    structured,
    content,
    isError: block.is_error === true || (isTyped(content) && content.type.endsWith('_error')),
    isDetached: says.detachedToolCall === true,
    isLaunch: says.status === 'async_launched',
  };
}
