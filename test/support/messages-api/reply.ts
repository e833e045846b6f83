/** A content block that the scripted model sends. */
export type ScriptedBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

/** What the server answers to one request. */
export type Reply =
  | {
      readonly kind: 'message';
      readonly blocks: readonly ScriptedBlock[];
      /** Deltas of text that are sent before the connection is left hanging. All, where unsaid. */
      readonly hangAfter?: number;
      /** Its content is held back until then. */
      readonly until?: () => Promise<void>;
    }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly type: string;
      readonly message: string;
    };

/** A message of the model. */
export function says(...blocks: readonly (ScriptedBlock | string)[]) {
  return {
    kind: 'message' as const,
    blocks: blocks.map((block) =>
      typeof block === 'string' ? { type: 'text' as const, text: block } : block,
    ),
  };
}

/** A message whose content is held back until something has happened. */
export function held(
  until: () => Promise<void>,
  ...blocks: readonly (ScriptedBlock | string)[]
): Reply {
  return { ...says(...blocks), until };
}

/** A text that stops coming after some deltas; the connection stays open. */
export function stalls(text: string, hangAfter: number): Reply {
  return { kind: 'message', blocks: [{ type: 'text', text }], hangAfter };
}

/** A thought, signed. */
export function thinks(thinking: string): ScriptedBlock {
  return { type: 'thinking', thinking, signature: 'c2lnbmF0dXJl' };
}

/** A wish to call a tool. */
export function calls(
  id: string,
  name: string,
  input: Readonly<Record<string, unknown>>,
): ScriptedBlock {
  return { type: 'tool_use', id, name, input };
}

/** The API is overloaded. */
export function overloaded(): Reply {
  return { kind: 'error', status: 529, type: 'overloaded_error', message: 'Overloaded.' };
}
