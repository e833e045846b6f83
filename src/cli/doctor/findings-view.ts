import { type Layout, laidOut } from '../print/layout.js';
import { counted, printable } from '../shell/text.js';
import type { Finding, Severity } from './finding.js';

/** Lays the findings out for people: the errors come last, nearest to the prompt. */
export function findingsView(findings: readonly Finding[], layout: Layout): string[] {
  const ordered = (['ok', 'warning', 'error'] as const).flatMap((severity) =>
    findings.filter((one) => one.severity === severity),
  );
  return [...ordered.flatMap((one) => lines(one, layout)), summary(findings, layout)];
}

function lines({ severity, check, what, whose, hint }: Finding, layout: Layout): string[] {
  const { palette } = layout;
  const paint = { ok: palette.plain, warning: palette.warning, error: palette.failure }[severity];
  const named = whose === undefined ? '' : `${whose}: `;
  const head = `${severity.padEnd(7)}  ${check.padEnd(10)}  `;
  const width = Math.max(20, layout.width - head.length);
  const told = laidOut(printable(`${named}${what}`), 0, palette.plain, width);
  const advice =
    severity === 'ok' || hint === undefined
      ? []
      : laidOut(printable(hint), 0, palette.quiet, width);
  return [...told, ...advice].map((line, at) =>
    at === 0 ? paint(head) + line : ' '.repeat(head.length) + line,
  );
}

function summary(findings: readonly Finding[], { palette }: Layout): string {
  const count = (severity: Severity): number =>
    findings.filter((one) => one.severity === severity).length;
  const errors = count('error');
  const warnings = count('warning');
  const text = `${counted(errors, 'error', 'errors')}, ${counted(warnings, 'warning', 'warnings')}`;
  return errors > 0 ? palette.failure(text) : palette.strong(text);
}
