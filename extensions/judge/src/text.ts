import type { Outcome, PayloadOf } from 'sluice-kernel';

/** The result of a tool, as `agent.tool.returning` judges it. */
export type ToolResult = PayloadOf<'agent.tool.returning'>['result'];

/** Anything that was thrown in one line of bounded length. */
export function oneLine(thrown: unknown): string {
  try {
    const text =
      thrown instanceof Error && thrown.name === 'Error' ? thrown.message : String(thrown);
    return text.replace(/\s+/g, ' ').trim().slice(0, 300);
  } catch {
    return 'something that cannot be read';
  }
}

/** The arguments of a call; a text that is no JSON is none. */
export function jsonOf(input: unknown): unknown {
  try {
    return JSON.parse(String(input));
  } catch {
    return undefined;
  }
}

/** The answer of a tool as the model reads it: a text as it is, and anything else as JSON. */
export function textOf(output: unknown): string {
  if (output === undefined || typeof output === 'string') return output ?? '';
  try {
    const text = JSON.stringify(output, (_key, one: unknown) =>
      typeof one === 'bigint' ? String(one) : one,
    );
    return text ?? String(output);
  } catch {
    return String(output); // a cycle
  }
}

/** The texts of a judged result; a picture is named. */
export function givenText({ content }: ToolResult): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : `[a picture: ${block.mimeType}]`))
    .join('\n');
}

/** A result of one text. */
export function said(text: string, isError: boolean): ToolResult {
  return { content: [{ type: 'text', text }], isError };
}

/** Says why an outcome did not pass: of a failure without its words, which may quote the text that a handler guards (§16.12). */
export function whyNot(outcome: Outcome<'agent.tool.calling'>): string {
  if (outcome.status === 'cancelled') return outcome.cancel.text ?? outcome.cancel.code;
  const failure = outcome.failures.findLast(({ policy }) => policy === 'closed');
  if (failure === undefined) return 'the call failed';
  const { kind, extensionId, contributionId } = failure;
  const whose = extensionId === undefined ? '' : ` in ${extensionId}/${contributionId}`;
  return `the call failed (${kind}${whose})`;
}
