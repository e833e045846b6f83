import type { ChatMessage } from '../src/chat-messages.js';
import { type Answer, fails } from './model-server.js';

/** Answers as a server does whose template is strict: it refuses a request with roles that do not alternate, or an empty message. */
export function strict(answer: Answer): Answer {
  return (response, asked) => {
    const problem = problemOf(asked.body.messages);
    return problem === undefined
      ? answer(response, asked)
      : fails(400, { message: problem })(response, asked);
  };
}

/** Those with tools are no part of the order of roles, as in the templates of Mistral and others. */
function problemOf(all: readonly ChatMessage[]): string | undefined {
  const messages = all[0]?.role === 'system' ? all.slice(1) : all;
  let open: string[] = [];
  let role = 'assistant';
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id))
        return `a result of no call: ${message.tool_call_id}`;
      open = open.filter((id) => id !== message.tool_call_id);
      if (message.content.trim() === '') return 'an empty result';
      continue;
    }
    if (open.length > 0) return `calls without results: ${open.join()}`;
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
    if (isEmpty(message.content) && calls.length === 0)
      return `an empty message of ${message.role}`;
    open = calls.map((call) => String(Object(call).id));
    if (calls.length > 0) continue;
    if (message.role === role) return `two messages of ${role} in a row`;
    role = message.role;
  }
  if (open.length > 0) return `calls without results: ${open.join()}`;
  return role === 'user' ? undefined : 'the last message is an answer';
}

function isEmpty(content: ChatMessage['content']): boolean {
  if (content === null) return true;
  if (typeof content === 'string') return content.trim() === '';
  return content.some((one) => one.type === 'text' && one.text.trim() === '');
}
