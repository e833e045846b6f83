import { isThenable } from '../../../kernel/index.js';

/** The fields of an answer by which a plugin writes to the prompt. */
const promptFields = [
  'systemPrompt',
  'prependContext',
  'prependSystemContext',
  'appendSystemContext',
];

/** The hooks that write to the prompt. */
export const promptHookNames: readonly string[] = ['before_prompt_build', 'before_agent_start'];

/** Keeps the prompt fields of a handler's answers from being read. Nothing is answered where nothing is left. */
export function withoutPromptFields(
  handler: (event: never, ctx: never) => unknown,
): (event: never, ctx: never) => unknown {
  return (event, ctx) => {
    const answer = handler(event, ctx);
    return isThenable(answer) ? answer.then(stripped) : stripped(answer);
  };
}

function stripped(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  const left = Object.entries(answer).filter(([field]) => !promptFields.includes(field));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
