import type { AgentToolResult } from '@sluice/sdk/stream';
import { definedFields, type Outcome } from 'sluice-kernel/internal';

/** The texts of an answer; a picture is named. */
export function givenText({ content }: AgentToolResult): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : `[a picture: ${block.mimeType}]`))
    .join('\n');
}

/** Turns the result of a tool into text: a text as it is, anything else as JSON, or a note if JSON cannot write it. */
export function resultText(result: unknown): string {
  if (typeof result === 'string') return result;
  try {
    const text = JSON.stringify(result, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return text ?? '';
  } catch {
    return '[a result that cannot be written as text]';
  }
}

/** The answer that a dispatch of `agent.tool.returning` has left. */
export function answerOf(outcome: Outcome<'agent.tool.returning'>, why?: string): AgentToolResult {
  if (outcome.status === 'cancelled') return said(outcome.cancel.text ?? outcome.cancel.code, true);
  if (outcome.status === 'failed') return withheld(why);
  const { content, structured, isError } = outcome.payload.result;
  return { content, isError, ...definedFields({ details: structured }) };
}

/** Stands for a result that a fail-closed handler could not judge, by default since it failed. */
export function withheld(why = 'a handler that guards results failed'): AgentToolResult {
  return said(`withheld: ${why}`, true);
}

/** A result of one text. */
export function said(text: string, isError: boolean): AgentToolResult {
  return { content: [{ type: 'text', text }], isError };
}
