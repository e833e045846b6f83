import type * as acp from '@agentclientprotocol/sdk';

/** The text of a block; anything else than text is named. */
export function blockText(block: acp.ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.name}](${block.uri})`;
  return `[${block.type}]`;
}

/** The text that a tool shows, or else its output as data. Nothing if an update has neither. */
export function resultOf({ content, rawOutput }: acp.ToolCallUpdate): unknown {
  const text = (content ?? []).map(contentText).join('\n');
  return text === '' ? (rawOutput ?? undefined) : text;
}

function contentText(part: acp.ToolCallContent): string {
  if (part.type === 'content') return blockText(part.content);
  if (part.type === 'terminal') return `[terminal ${part.terminalId}]`;
  const before = part.oldText?.replace(/^/gm, '- ').concat('\n') ?? '';
  return `${part.path}\n${before}${part.newText.replace(/^/gm, '+ ')}`;
}
