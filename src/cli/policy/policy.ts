import { resolve } from 'node:path';
import { recordedOutcome } from '@sluice/host/internal';
import type { Given } from 'sluice-kernel';
import { ownPackage } from '../installed/own-package.js';
import {
  addJournalActions,
  allDispatches,
  type JournalChoice,
  openJournalOf,
  sinceMsOf,
} from '../journal/journal-of.js';
import { laidOut } from '../print/layout.js';
import { printData } from '../print/print-data.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';

interface PolicyOptions extends JournalChoice {
  readonly since?: string;
}

const actions = ['test', 'try'] as const;
type Action = (typeof actions)[number];

/** Events that are named of each result of a rule. */
const samplesAtMost = 3;

const help = `
Actions:
  test FILE...   check the rules, and try their examples
  try FILE...    say what the rules would have denied or asked of what a journal holds

Policies are in the package sluice-policies; its README shows how to write them.

Examples:
  $ sluice policy test ./policies.yaml
  $ sluice policy try ./policies.yaml --journal ./sluice.db --since 7d`;

/** Adds `sluice policy`, which checks policy files and tries them on a journal. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalActions(command, actions)
    .argument('<file...>', 'the policy files')
    .option('--since <time>', 'only what is younger: 30m, 2h, 7d, or a date')
    .option('--json', 'print a line of JSON per rule')
    .addHelpText('after', help)
    .action(async (action: Action, files: readonly string[], options: PolicyOptions) =>
      done(await policy(action, files, options, shell)),
    );
};

async function policy(
  action: Action,
  files: readonly string[],
  options: PolicyOptions,
  shell: Shell,
): Promise<ExitCode> {
  const { stderr, cwd } = shell;
  const from = await ownPackage<PolicyPackage>('sluice-policies', 'policies are', cwd);
  const { readPolicies, PolicyError } = from;
  let read: Awaited<ReturnType<typeof readPolicies>>;
  try {
    read = await readPolicies(files.map((file) => resolve(cwd, file)));
  } catch (thrown) {
    if (!(thrown instanceof PolicyError)) throw thrown;
    stderr.lines(thrown.message.split('\n').map(printable));
    return exitCodes.failed;
  }
  if (action === 'try') return tryOnJournal(read.rules, options, shell);
  const { rules, exampleCount } = read;
  const named = rules.map(({ id, family }) => ({ id, family }));
  printData(shell, options, named, () => [
    `${counted(rules.length, 'rule', 'rules')} checked, and ${counted(exampleCount, 'example', 'examples')} met`,
  ]);
  return exitCodes.ok;
}

interface Tally {
  readonly rule: PolicyRule;
  tried: number;
  readonly counts: Record<'denied' | 'asked' | 'failed', number>;
  readonly samples: { readonly eventId: string; readonly verdict: string; readonly why: string }[];
}

/** Dispatches to each rule alone what a journal holds of its family. Nothing else is called. */
async function tryOnJournal(
  rules: readonly PolicyRule[],
  options: PolicyOptions,
  shell: Shell,
): Promise<ExitCode> {
  const sinceMs = options.since === undefined ? 0 : sinceMsOf(options.since, Date.now());
  await using reader = await openJournalOf(options, shell);
  const tallies = rules.map(
    (rule): Tally => ({ rule, tried: 0, counts: { denied: 0, asked: 0, failed: 0 }, samples: [] }),
  );
  let withoutPayload = 0;
  for await (const record of allDispatches(reader)) {
    if (record.occurredAtMs < sinceMs) continue;
    const of = tallies.filter(({ rule }) => rule.family === record.family);
    if (of.length === 0) continue;
    const { event, payload, principal, omitted } = recordedOutcome(record);
    if (omitted !== undefined) {
      withoutPayload++;
      continue;
    }
    for (const tally of of) {
      const { payload: _, family: __, hotPath: ___, ...refs } = event;
      const given = { ...refs, ...(principal !== undefined && { principal }) } as Given; // as it was dispatched
      const { verdict, why = '' } = await tally.rule.tryOn(structuredClone(payload), given);
      tally.tried++;
      if (verdict === 'allowed') continue;
      tally.counts[verdict]++;
      const { eventId } = record;
      if (tally.samples.length < samplesAtMost) tally.samples.push({ eventId, verdict, why });
    }
  }
  for (const tally of tallies) report(tally, options, shell);
  if (withoutPayload > 0 && options.json !== true)
    shell.stderr.lines([
      `sluice: warn: ${counted(withoutPayload, 'dispatch', 'dispatches')} of the journal have no payload, and were left out`,
    ]);
  return exitCodes.ok;
}

function report(
  { rule, tried, counts, samples }: Tally,
  options: PolicyOptions,
  shell: Shell,
): void {
  const { id, family } = rule;
  const { denied, asked, failed } = counts;
  printData(shell, options, [{ id, family, tried, ...counts, samples }], ({ palette, width }) => [
    `${id}: ${counted(tried, 'dispatch', 'dispatches')} of ${family}: ${denied} denied, ${asked} asked, ${failed} failed`,
    ...samples.flatMap(({ eventId, verdict, why }) => {
      const line = printable(`${verdict} ${eventId}${why === '' ? '' : `: ${why}`}`);
      return laidOut(line, 2, palette.plain, width);
    }),
  ]);
}

/** A rule of a policy file, as its package has it. */
interface PolicyRule {
  readonly id: string;
  readonly family: string;
  tryOn(
    payload: object,
    given: Given,
  ): Promise<{
    readonly verdict: 'denied' | 'asked' | 'allowed' | 'failed';
    readonly why?: string;
  }>;
}

/** The package of policies, as far as the command line needs it. */
interface PolicyPackage {
  readPolicies(files: readonly string[]): Promise<{
    readonly rules: readonly PolicyRule[];
    readonly exampleCount: number;
  }>;
  readonly PolicyError: new (...args: never[]) => Error;
}
