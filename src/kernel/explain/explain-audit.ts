import type { AuditRecord } from '../outcome/audit.js';
import { nameOf } from '../outcome/entry.js';
import { inertText } from '../value/inert-text.js';
import { oneLine } from '../value/one-line.js';

/**
 * Says in one line what an audited handler would have done (judgement §3.6). The line is safe to print.
 *
 * @example
 * explainAudit(record); // 'acme/night, in audit mode, would have cancelled it: quiet-hours, "until 07:00"'
 */
export function explainAudit(record: AuditRecord): string {
  const again = record.pass === 'first' ? '' : ` (${record.pass})`;
  const failure =
    record.failure === undefined || record.verdict === 'failed'
      ? ''
      : `; also ${failureText(record)}`;
  return inertText(`${nameOf(record)}, in audit mode${again}, ${verdictText(record)}${failure}`);
}

function verdictText(record: AuditRecord): string {
  const { verdict, code = '', text, paths = [], candidates = [] } = record;
  const said = text === undefined ? '' : `, "${oneLine(text)}"`;
  switch (verdict) {
    case 'nothing':
      return 'would have done nothing';
    case 'allow':
      return 'would have allowed it';
    case 'cancel':
      return `would have cancelled it: ${oneLine(code)}${said}`;
    case 'ask':
      return `would have asked a human${said}`;
    case 'patch':
      return `would have changed ${pathsText(paths)}`;
    case 'annotate':
      return `would have annotated ${pathsText(paths)}`;
    case 'propose':
      return `would have proposed ${candidates.map(({ target }) => targetText(target)).join(', ') || 'nothing'}`;
    case 'failed':
      return failureText(record);
  }
}

function failureText({ failure }: AuditRecord): string {
  return failure === undefined ? 'failed' : `failed: ${failure.kind}, ${oneLine(failure.message)}`;
}

function pathsText(paths: NonNullable<AuditRecord['paths']>): string {
  return paths.map(({ path, digest }) => `${oneLine(path)} (digest ${digest})`).join(', ');
}

function targetText(target: unknown): string {
  try {
    return oneLine(JSON.stringify(target) ?? target);
  } catch {
    return 'a target that cannot be shown'; // a cycle, or a bigint
  }
}
