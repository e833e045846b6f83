import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SqliteJournal } from 'sluice/host';
import { agentsOf, type Draft } from '../convert/draft.js';
import { isRecord } from '../source/node.js';
import { readState } from './paired.js';

type Entry = { readonly role: string } & Readonly<Record<string, unknown>>;

/** A session with its transcript. */
export interface ImportedSession {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly entries: readonly Entry[];
}

/** Reads the sessions of all agents, each with its transcript. A line that is broken is named, and left out. */
export function readSessions(draft: Draft): readonly ImportedSession[] {
  const sessions = new Map<string, ImportedSession>();
  for (const { id: agentId } of agentsOf(draft.root)) {
    const folder = join('agents', agentId, 'sessions');
    const index = readState(draft, join(folder, 'sessions.json'));
    for (const [key, value] of Object.entries(isRecord(index) ? index : {})) {
      const { sessionId, sessionFile = `${sessionId}.jsonl` } = isRecord(value) ? value : {};
      const sessionKey = (key.startsWith('agent:') ? key : `agent:${agentId}:${key}`).toLowerCase();
      const file = join(folder, basename(String(sessionFile)));
      if (typeof sessionId !== 'string' || !existsSync(join(draft.folder, file))) continue;
      const entries = readTranscript(draft, file);
      draft.moved.set(file, `The history of ${sessionKey}: ${entries.length} messages.`);
      if (entries.length > 0) sessions.set(sessionKey, { sessionKey, sessionId, agentId, entries });
    }
  }
  return [...sessions.values()];
}

function readTranscript({ folder, broken }: Draft, file: string): readonly Entry[] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  return lines.flatMap((text, at) => {
    try {
      const line: unknown = text.trim() === '' ? {} : JSON.parse(text);
      return isRecord(line) && line['type'] === 'message' ? entryOf(line) : [];
    } catch {
      broken.push(`${file}:${at + 1}: it is no JSON`); // its error would show the text
      return [];
    }
  });
}

/** Makes an entry of a line; none of one that is no message of a person, a model or a tool. */
function entryOf({ message, timestamp }: Readonly<Record<string, unknown>>): readonly Entry[] {
  const { role, content, ...rest } = isRecord(message) ? message : {};
  const at = new Date(String(timestamp ?? '')).getTime();
  const time = rest['timestamp'] ?? (Number.isNaN(at) ? undefined : at);
  const blocks = Array.isArray(content)
    ? content.filter(isRecord)
    : [{ type: 'text', text: String(content ?? '') }];
  const kept = (...types: readonly string[]) =>
    blocks.filter(({ type }) => types.includes(String(type)));
  const made: Record<string, Record<string, unknown>> = {
    user: authored(
      kept('text')
        .map(({ text }) => String(text))
        .join('\n'),
    ),
    assistant: {
      ...{ content: kept('text', 'thinking', 'toolCall'), provider: rest['provider'] },
      ...{ model: rest['model'], stopReason: rest['stopReason'] },
    },
    toolResult: {
      ...{ content: kept('text'), isError: rest['isError'] === true },
      ...{ toolCallId: rest['toolCallId'], toolName: rest['toolName'] },
    },
  };
  const fields = typeof role === 'string' ? made[role] : undefined;
  if (typeof role !== 'string' || fields === undefined) return [];
  const entries = Object.entries({ ...fields, timestamp: time });
  return [{ role, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) }];
}

const around = /^\s*([A-Z][^\n]*)\(untrusted[^\n]*\):\n```json\n([\s\S]*?)\n```\s*/;

/** Takes the blocks away that OpenClaw puts before the words of a person, and names him by them. */
function authored(text: string): Record<string, unknown> {
  let [content, sender] = [text, {}];
  for (let found = around.exec(content); found !== null; found = around.exec(content)) {
    const [block, title = '', json = ''] = found;
    content = content.slice(block.length);
    if (!/^(Sender|Conversation info)/.test(title)) continue;
    const about: unknown = JSON.parse(json);
    const {
      sender_id: senderId,
      sender: named,
      id = senderId,
      name = named,
    } = isRecord(about) ? about : {};
    sender = { ...sender, ...(id !== undefined && { id }), ...(name !== undefined && { name }) };
  }
  return { content, ...(Object.keys(sender).length > 0 && { sender }) };
}

/** Writes the sessions into a journal, which nobody else has. */
export async function writeSessions(
  { store, ownership }: SqliteJournal,
  sessions: readonly ImportedSession[],
  signal: AbortSignal,
): Promise<void> {
  const fence = ownership.fenceOf(0);
  if (fence === undefined) throw new Error('the journal that was made belongs to another host');
  for (const { entries, ...session } of sessions) {
    signal.throwIfAborted();
    const times = entries.map(({ timestamp }) => timestamp);
    const startedAtMs = times.find((at): at is number => typeof at === 'number') ?? 0;
    const record = { ...session, startedAtMs, context: {}, memoryKeys: [], metadata: {} };
    await store.saveSession(record, { fence });
    for (const entry of entries)
      await store.appendMessage(session.sessionId, entry, { fence, mayWait: true });
  }
  store.hurry?.();
}
