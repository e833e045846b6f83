// Names of earlier versions. Each stands for the one that it names.

import { auditText, explain } from './explain/explain.js';
import type { AuditRecord } from './outcome/audit.js';
import type { OutcomeRecord } from './outcome/outcome.js';

/** @deprecated Use `explain`. */
export function explainOutcome(
  outcome: OutcomeRecord,
  options?: Parameters<typeof explain>[1],
): string[] {
  return explain(outcome, options).map(({ depth, words }) => `${'  '.repeat(depth)}${words}`);
}

/** @deprecated Use `explain` with `audits`. */
export function explainAudit(record: AuditRecord): string {
  return auditText(record);
}
