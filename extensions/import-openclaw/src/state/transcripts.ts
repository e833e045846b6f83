import { createReadStream, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SqliteJournal } from 'sluice/host';
import { readLines } from 'sluice/stream';
import { agentsOf, type Draft } from '../convert/draft.js';
import { isRecord } from '../source/node.js';
import { readState } from './paired.js';

type Entry = { readonly role: string } & Readonly<Record<string, unknown>>;

/** A session, with the file of its transcript. It is read line by line: a transcript can be of any length. */
export interface ImportedSession {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly startedAtMs: number;
  readonly file: string;
}

/** Finds the sessions of all agents, and reads each transcript once. A line that is broken is named, and left out. */
export async function findSessions(
  draft: Draft,
  signal: AbortSignal,
): Promise<readonly ImportedSession[]> {
  const sessions = new Map<string, ImportedSession>(); // by their ids: runs of a job share one
  for (const { id: agentId } of agentsOf(draft.root)) {
    const folder = join('agents', agentId, 'sessions');
    const index = readState(draft, join(folder, 'sessions.json'));
    for (const [key, value] of Object.entries(isRecord(index) ? index : {})) {
      const { sessionId, sessionFile = `${sessionId}.jsonl` } = isRecord(value) ? value : {};
      const sessionKey = (key.startsWith('agent:') ? key : `agent:${agentId}:${key}`).toLowerCase();
      const name = join(folder, basename(String(sessionFile)));
      const file = join(draft.folder, name);
      if (typeof sessionId !== 'string' || sessions.has(sessionId) || !existsSync(file)) continue;
      const onBroken = (line: number) => draft.broken.push(`${name}:${line}: it is no JSON`);
      let [messages, startedAtMs] = [0, 0];
      for await (const { timestamp } of entriesOf(file, signal, onBroken)) {
        messages++;
        if (startedAtMs === 0 && typeof timestamp === 'number') startedAtMs = timestamp;
      }
      draft.moved.set(name, `The history of ${sessionKey}: ${messages} messages.`);
      const session = { sessionKey, sessionId, agentId, startedAtMs, file };
      if (messages > 0) sessions.set(sessionId, session);
    }
  }
  return [...sessions.values()];
}

async function* entriesOf(
  file: string,
  signal: AbortSignal,
  onBroken: (line: number) => void,
): AsyncGenerator<Entry> {
  let number = 0;
  for await (const text of readLines(createReadStream(file))) {
    signal.throwIfAborted();
    number++;
    const line = text.trim() === '' ? {} : jsonOf(text);
    if (line === undefined) onBroken(number);
    else if (isRecord(line) && line['type'] === 'message') yield* entryOf(line);
  }
}

/** Parses JSON; nothing if it is none. The error would show the text. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
    const about = jsonOf(json);
    if (about === undefined) break;
    content = content.slice(block.length);
    if (!/^(Sender|Conversation info)/.test(title)) continue;
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

/** Entries that are written by one commit. Each by one of its own would take an hour for a long history. */
const entriesAtOnce = 100;

/** Writes the sessions into a journal, which nobody else has. */
export async function writeSessions(
  { store, ownership }: SqliteJournal,
  sessions: readonly ImportedSession[],
  signal: AbortSignal,
): Promise<void> {
  const fence = ownership.fenceOf(0);
  if (fence === undefined) throw new Error('the journal that was made belongs to another host');
  for (const { file, ...session } of sessions) {
    const record = { ...session, context: {}, memoryKeys: [], metadata: {} };
    await store.saveSession(record, { fence });
    let pending: Promise<void>[] = [];
    const written = async () => {
      store.hurry?.();
      await Promise.all(pending);
      pending = [];
    };
    try {
      for await (const entry of entriesOf(file, signal, () => undefined)) {
        pending.push(store.appendMessage(session.sessionId, entry, { fence, mayWait: true }));
        if (pending.length >= entriesAtOnce) await written();
      }
    } finally {
      await written();
    }
  }
}
