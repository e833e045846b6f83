import { describe, expect, it } from 'vitest';
import { canonicalStages, type Envelope } from '../../../src/kernel/internal.js';
import { type LegacyHookName, legacyHookNames } from '../../../src/openclaw/index.js';
import { profiles } from '../../../src/openclaw/profiles/index.js';

/** What legacy events of profile 2026.3 have no field for, by family: everything else reaches the handlers. */
const without: Readonly<Record<string, string>> = {
  'agent.model.resolving': 'runId sourceSeq provider model providers imagesCount',
  'agent.prompt.building':
    'runId sourceSeq systemPrompt guidance additions bootstrapFiles config ' +
    'sender messageId replyTo forwardedFrom shared',
  'agent.llm.input': 'sourceSeq',
  'agent.llm.output': 'sourceSeq stopReason error durationMs fallback',
  'agent.completed': 'runId sourceSeq aborted stopReason startedAtMs endedAtMs usage',
  'compaction.before':
    'runId sourceSeq cause isSessionKeyMissing messageCountOriginal ' + 'tokenCountOriginal',
  'compaction.after':
    'runId sourceSeq cause isSessionKeyMissing compactionCount tokensBefore ' +
    'tokensAfter summaryLengthChars firstKeptEntryId willRetry',
  'session.resetting': 'runId sourceSeq surface senderId sessionEntry previousSessionEntry config',
  'ingress.normalized':
    'parentConversationId groupId isGroup body promptText transcript attachments ' +
    'replyTo isEdited wasMentioned commandSource commandAuthorized sessionKey ' +
    'targetSessionKey raw config forwardedFrom shared',
  'egress.preparing':
    'agentId sessionKey sessionId runId workspaceDir messageProvider trigger ' +
    'sourceSeq replyToId isGroup groupId kind streaming openedBy format silent explicit interactive ' +
    'accounts',
  'egress.sent':
    'agentId sessionKey sessionId runId workspaceDir messageProvider trigger ' +
    'sourceSeq threadId replyToId isGroup groupId kind streaming openedBy format attachments ' +
    'silent metadata interactive attempt receipt durationMs',
  'egress.failed':
    'agentId sessionKey sessionId runId workspaceDir messageProvider trigger ' +
    'sourceSeq threadId replyToId isGroup groupId kind streaming openedBy format attachments ' +
    'silent metadata interactive cause retryAfterMs attempts receipt durationMs',
  'agent.tool.calling': 'workspaceDir channel messageProvider trigger sourceSeq',
  'agent.tool.called': 'workspaceDir channel messageProvider trigger sourceSeq meta isError',
  'transcript.tool-result.persisting': 'sessionId runId',
  'transcript.message.writing': 'sessionId runId',
  'session.started': 'isNew context memoryKeys metadata',
  'session.ended': 'resumedFrom reason nextSessionId',
  'subagent.delivery.resolving': 'explicitTarget',
  'gateway.started': 'workspaceDir address config startedAtMs dependencies',
  'gateway.stopping': 'workspaceDir address isRestart',
};

type Schema = Record<string, unknown>;

/** A value that fits a schema, with every field that it declares. */
function fullOf(schema: Schema, path: string): unknown {
  const {
    type,
    anyOf,
    enum: words,
    properties,
    items,
  } = schema as {
    readonly type?: string;
    readonly anyOf?: readonly Schema[];
    readonly enum?: readonly unknown[];
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
  };
  if (words !== undefined) return words[0];
  if (anyOf !== undefined) return fullOf(anyOf.at(-1) ?? {}, path);
  if (type === 'string') return path;
  if (type === 'number' || type === 'integer') return 1 + path.length;
  if (type === 'boolean') return true;
  if (type === 'array') return [fullOf(items ?? {}, `${path}/0`)];
  if (type !== 'object') return { of: path };
  const fields = Object.entries(properties ?? {});
  if (fields.length === 0) return { some: path };
  return Object.fromEntries(fields.map(([key, one]) => [key, fullOf(one, `${path}/${key}`)]));
}

/** The payload's fields that handlers of a hook see nothing of. */
function unseen(hook: LegacyHookName, family: string): string[] {
  const stage = canonicalStages.find((one) => one.family === family);
  const payload = fullOf(stage?.payload as unknown as Schema, family) as Record<string, unknown>;
  const shown = (fields: object): string =>
    JSON.stringify(
      profiles['2026.3'][hook].view({
        family,
        payload: fields,
        agentId: null,
        sessionId: null,
      } as unknown as Envelope), // all that views read
    );
  const whole = shown(payload);
  const isUnseen = (key: string): boolean =>
    shown({ ...payload, [key]: otherThan(payload[key]) }) === whole;
  return Object.keys(payload).filter(isUnseen);
}

/** A value of the same kind that says something else. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'string') return `${value}!`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return [];
  return {};
}

describe('what the pipeline says, in the words of a legacy hook (§17.1)', () => {
  const cases = legacyHookNames['2026.3'].flatMap((hook) =>
    [...new Set(profiles['2026.3'][hook].parts.map(({ family }) => family))].map(
      (family) => [hook, family] as const,
    ),
  );
  it.each(cases)('%s leaves nothing of %s out but what it has no field for', (hook, family) => {
    expect(unseen(hook, family).sort()).toEqual(
      (without[family] ?? '').split(' ').filter(Boolean).sort(),
    );
  });
});
