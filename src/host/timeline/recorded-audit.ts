import type { DispatchRecord } from '@sluice/journal';
import type { AuditRecord } from 'sluice-kernel';
import { z } from 'zod';
import { recordedBody } from './recorded-outcome.js';

const bodySchema = z.looseObject({
  eventId: z.string(),
  family: z.string(),
  extensionId: z.string(),
  contributionId: z.string(),
  pass: z.string(),
  verdict: z.enum(['nothing', 'allow', 'cancel', 'ask', 'patch', 'annotate', 'propose', 'failed']),
  code: z.string().exactOptional(),
  text: z.string().exactOptional(),
  paths: z.array(z.looseObject({ path: z.string(), digest: z.string() })).exactOptional(),
  candidates: z.array(z.looseObject({ target: z.unknown() })).exactOptional(),
  failure: z.looseObject({ kind: z.string(), message: z.string() }).exactOptional(),
});

/**
 * Reads the record of an audited handler back from a journal (judgement §3.6).
 *
 * @throws SluiceError `unreadable-dispatch`.
 */
export function recordedAudit(record: DispatchRecord): AuditRecord {
  return recordedBody(record, bodySchema) as unknown as AuditRecord; // its kinds and classes may be older ones
}
