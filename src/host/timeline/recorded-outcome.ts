import type { DispatchRecord } from '@sluice/journal';
import {
  type AuditRecord,
  definedFields,
  type Envelope,
  type OutcomeRecord,
} from 'sluice-kernel/internal';
import { z } from 'zod';
import { hostError } from '../errors.js';

/** The record of a dispatch in a journal, read back. */
export interface RecordedOutcome extends OutcomeRecord {
  readonly event: Envelope;
  /** The payload after every patch. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** The reason why its payloads are missing. */
  readonly omitted?: DispatchRecord['omitted'];
}

const author = z.looseObject({ extensionId: z.string(), contributionId: z.string() });
const choice = author.extend({ explicit: z.boolean(), rank: z.number() });
const list = <T extends z.ZodType>(entry: T) => z.array(entry).default([]);

const question = z.looseObject({
  asker: author,
  title: z.string(),
  of: z.union([z.string(), z.looseObject({ role: z.string() })]),
  scopes: z.array(z.string()),
});

/** The part of the form that readers depend on; further fields of the kernel are taken as they are. */
const bodySchema = z.looseObject({
  status: z.enum(['passed', 'cancelled', 'failed']),
  event: z.looseObject({
    family: z.string(),
    eventId: z.string(),
    payload: z.record(z.string(), z.unknown()),
  }),
  principal: z
    .strictObject({
      ...{ channel: z.string(), accountId: z.string(), senderId: z.string() },
      ...{ conversationId: z.string().exactOptional(), senderName: z.string().exactOptional() },
      ...{ isOwner: z.boolean(), roles: z.array(z.string()) },
    })
    .exactOptional(),
  payload: z.record(z.string(), z.unknown()).exactOptional(),
  annotations: z.record(z.string(), z.unknown()).default({}),
  cancel: author.extend({ code: z.string(), question: question.exactOptional() }).exactOptional(),
  answered: z.array(author).exactOptional(),
  selection: choice.exactOptional(),
  candidates: list(choice),
  changes: list(author.extend({ path: z.string() })),
  staleApprovals: list(author.extend({ changedBy: z.array(author) })),
  skipped: list(author.extend({ why: z.string() })),
  failures: list(
    z.looseObject({ kind: z.string(), message: z.string(), policy: z.enum(['open', 'closed']) }),
  ),
  steps: list(author.extend({ class: z.string(), result: z.string() })),
});

/**
 * Reads the record of a dispatch: enough to explain it, and to dispatch it again.
 *
 * @throws SluiceError `unreadable-dispatch` if it is no dispatch of this project.
 * @example
 * const [record] = await reader.dispatches({ eventId });
 * if (record !== undefined) for (const { words } of explain(recordedOutcome(record))) console.log(words);
 */
export function recordedOutcome(record: DispatchRecord): RecordedOutcome {
  const read = recordedBody(record, bodySchema);
  const { omitted } = record;
  const { payload = read.event.payload, ...rest } = read;
  const whole = { ...rest, payload, ...definedFields({ omitted }) };
  return whole as unknown as RecordedOutcome; // its kinds and families are the kernel's own, and may be older ones
}

/** The part of the record of an audited handler that readers depend on. */
const auditSchema = z.looseObject({
  eventId: z.string(),
  family: z.string(),
  extensionId: z.string(),
  contributionId: z.string(),
  class: z.string(),
  pass: z.string(),
  verdict: z.enum(['nothing', 'allow', 'cancel', 'ask', 'patch', 'annotate', 'propose', 'failed']),
  code: z.string().exactOptional(),
  text: z.string().exactOptional(),
  paths: z.array(z.looseObject({ path: z.string(), digest: z.string() })).exactOptional(),
  candidates: z.array(choice.extend({ target: z.unknown() })).exactOptional(),
  failure: z.looseObject({ kind: z.string(), message: z.string() }).exactOptional(),
});

/**
 * Reads the record of an audited handler back from a journal (judgement §3.6).
 *
 * @throws SluiceError `unreadable-dispatch`.
 */
export function recordedAudit(record: DispatchRecord): AuditRecord {
  return recordedBody(record, auditSchema) as AuditRecord; // its kinds and classes may be older ones
}

/**
 * Reads what a dispatch has left in a journal.
 *
 * @throws SluiceError `unreadable-dispatch`.
 */
export function recordedBody<T>(
  { eventId, body }: Pick<DispatchRecord, 'eventId' | 'body'>,
  schema: z.ZodType<T>,
): T {
  const refuse = (problem: string): never => {
    throw hostError('unreadable-dispatch', { eventId, problem });
  };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refuse('it is no JSON');
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return refuse(`${issue?.path.join('.')}: ${issue?.message}`);
}
