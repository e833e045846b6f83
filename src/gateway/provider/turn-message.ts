import type { AgentRequest } from '../../stream/index.js';
import { boundedMessage, type TriggerMessage } from './trigger-message.js';

/** What a turn says to the agent: its prompt, and the files that came along, by name and place. */
export function turnMessage({ prompt, attachments }: AgentRequest): TriggerMessage {
  const files = attachments.map(({ kind, name, path, url, mimeType }) =>
    ['-', kind, name, path ?? url, mimeType === undefined ? undefined : `(${mimeType})`]
      .filter((part) => part !== undefined)
      .join(' '),
  );
  const parts = files.length === 0 ? [prompt] : [`Attached files:\n${files.join('\n')}`, prompt];
  const text = parts.join('\n\n');
  return text.trim() === '' ? { kind: 'empty' } : boundedMessage(text);
}

/** What of a turn a gateway takes from nobody else. */
export function unsentParts({ systemPrompt }: AgentRequest): readonly string[] {
  return systemPrompt === undefined || systemPrompt.trim() === '' ? [] : ['the system prompt'];
}
