import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const copies = new URL('../fixtures/', import.meta.url);
const all = new URL('../../../shared/recordings/', import.meta.url);
/** By the SDK that made them: 0.3.329 and 0.3.330, then 0.3.332. */
const folders = ['claude-stream/', 'claude-stream-0332/'];

/** A recorded CSDK stream. */
export interface Recording {
  readonly name: string;
  readonly path: string;
  readonly lines: readonly string[];
}

/** Every recording there is: all of them beside the repository, else the copies in it. */
export function recordings(): readonly Recording[] {
  return folders.flatMap((name) => {
    const folder = new URL(name, all);
    return recordingsIn(existsSync(folder) ? folder : new URL(name, copies));
  });
}

function recordingsIn(folder: URL): readonly Recording[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .map((name) => {
      const path = fileURLToPath(new URL(name, folder));
      return {
        name,
        path,
        lines: readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line !== ''),
      };
    });
}

interface Frame {
  readonly type: string;
  readonly error?: string;
  readonly parent_tool_use_id?: string | null;
  readonly message?: {
    readonly id: string;
    readonly content: readonly { type: string; text?: string }[];
  };
  readonly event?: {
    readonly type: string;
    readonly message?: { readonly id: string };
    readonly delta?: { readonly type: string; readonly text?: string };
  };
}

/** The texts that a chat gets: a provider's failure in the place of an answer is none (§16.18). */
export function chatTexts(lines: readonly string[]): readonly string[] {
  return visibleTexts(
    lines.filter((line) => (JSON.parse(line) as Frame).error === undefined), // as in visibleTexts
  );
}

/**
 * The texts that people saw, message by message, read from the frames in another way than the normalizer does: a
 * message's complete blocks, or its deltas where no complete block came.
 */
export function visibleTexts(lines: readonly string[]): readonly string[] {
  const whole = new Map<string, string>();
  const streamed = new Map<string, string>();
  let streaming = '';
  for (const line of lines) {
    const frame = JSON.parse(line) as Frame; // recordings are known to be of this shape
    if (typeof frame.parent_tool_use_id === 'string') continue;
    if (frame.type === 'assistant' && frame.message !== undefined) {
      const text = frame.message.content
        .map((block) => (block.type === 'text' ? block.text : ''))
        .join('');
      whole.set(frame.message.id, (whole.get(frame.message.id) ?? '') + text);
    }
    if (frame.event?.type === 'message_start') {
      streaming = frame.event.message?.id ?? '';
      streamed.set(streaming, '');
      if (!whole.has(streaming)) whole.set(streaming, '');
    }
    if (frame.event?.delta?.type === 'text_delta')
      streamed.set(streaming, (streamed.get(streaming) ?? '') + frame.event.delta.text);
  }
  return [...whole]
    .map(([id, text]) => text || (streamed.get(id) ?? ''))
    .filter((text) => text !== '');
}
