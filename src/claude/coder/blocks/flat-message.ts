/** The rows of seed 002's table that a message may be of by the spelling of its type alone. */
type FlatRow =
  | 'init'
  | 'partial'
  | 'assistant'
  | 'tool_use'
  | 'tool_result'
  | 'permission'
  | 'completion';

const spellings: Readonly<Record<string, FlatRow>> = {
  sdkinit: 'init',
  init: 'init',
  partial: 'partial',
  partialassistant: 'partial',
  partialassistantmessage: 'partial',
  assistantpartial: 'partial',
  partialmessage: 'partial',
  assistant: 'assistant',
  assistantmessage: 'assistant',
  tooluse: 'tool_use',
  toolresult: 'tool_result',
  permission: 'permission',
  permissionrequest: 'permission',
  permissionresult: 'permission',
  permissiondecision: 'permission',
  completed: 'completion',
  final: 'completion',
  finalmessage: 'completion',
};

/**
 * The row of a message that older SDKs emitted, one flat object each. In a run its type must be spelled as the table
 * has it, in any case and with `-`, `_` or nothing between the words: a frame of a type yet to come only contains
 * such a word by chance, and must not end a run (C14).
 */
export function flatRow(type: string): FlatRow | undefined {
  const spelled = type.toLowerCase().replace(/[-_]/g, '');
  return Object.hasOwn(spellings, spelled) ? spellings[spelled] : undefined;
}
