import { resolve } from 'node:path';
import { recordedOutcome } from '@sluice/host/internal';
import { Option } from 'commander';
import type { Given as GivenDispatch } from 'sluice-kernel';
import { definedFields } from 'sluice-kernel/internal';
import { checkFile } from '../errors/file-error.js';
import { ownPackage } from '../installed/own-package.js';
import {
  allDispatches,
  type JournalChoice,
  journalOptions,
  openJournalOf,
  sinceMsOf,
  unknownEvent,
} from '../journal/journal-of.js';
import { type Layout, laidOut } from '../print/layout.js';
import { type Action, type Answer, type Given, resource } from '../resource/resource.js';
import { exitCodes } from '../shell/exit-codes.js';
import { counted, printable } from '../shell/text.js';

interface PolicyOptions extends JournalChoice {
  readonly complete?: boolean;
  readonly since?: string;
  readonly event?: string;
}

/** Events that are named of each result of a rule. */
const samplesAtMost = 3;

const help = `
Policies are in the package sluice-policies; its README shows how to write them.

Examples:
  $ sluice policy test ./policies.yaml
  $ sluice policy try ./policies.yaml --journal ./sluice.db --since 7d
  $ sluice policy try ./policies.yaml --event 0mf3k1q2a-0000001-x8w3kz`;

/** Adds `sluice policy`, which checks policy files and tries them on a journal. */
export const addCommand = resource<PolicyOptions>({
  options: journalOptions('print a line of JSON per rule'),
  actions: {
    'test <file...>': {
      summary: 'check the rules, and try their examples',
      options: [new Option('--complete', 'fail if a rule acts in none of its examples')],
      work: withPolicies(async ({ rules, exampleCount, unmet }, { options }) => ({
        data: rules.map(({ id, family }) => ({ id, family, isMet: unmet?.includes(id) === false })),
        lines: ({ palette }) => [
          ...(unmet ?? []).map((id) => palette.warning(`${id} acts in none of its examples`)),
          `${counted(rules.length, 'rule', 'rules')} checked, and ${counted(exampleCount, 'example', 'examples')} met`,
        ],
        ...(options.complete === true && unmet?.length !== 0 && { code: exitCodes.failed }),
      })),
    },
    'try <file...>': {
      summary: 'say what the rules would have denied or asked of what a journal holds',
      options: [
        new Option('--since <time>', 'only what is younger: 30m, 2h, 7d, or a date'),
        new Option('--event <id>', 'only this event, with what each rule says of it'),
      ],
      work: withPolicies(tryOnJournal),
    },
  },
  help,
});

type Policies = Awaited<ReturnType<PolicyPackage['readPolicies']>>;

/** Makes the work of an action on the policies of files. */
function withPolicies(
  work: (policies: Policies, given: Given<PolicyOptions>) => Promise<Answer>,
): Action<PolicyOptions>['work'] {
  return async (given) => {
    const { args: files, shell } = given;
    const { stderr, cwd } = shell;
    const name = 'sluice-policies';
    const { readPolicies, PolicyError } = await ownPackage<PolicyPackage>(
      name,
      'policies are',
      cwd,
    );
    for (const file of files)
      checkFile(resolve(cwd, file), file, 'Name a file with policies, such as ./policies.yaml.');
    try {
      return await work(await readPolicies(files.map((file) => resolve(cwd, file))), given);
    } catch (thrown) {
      if (!(thrown instanceof PolicyError)) throw thrown;
      stderr.lines(thrown.message.split('\n').map(printable));
      return { data: [], lines: () => [], code: exitCodes.failed };
    }
  };
}

interface Tally {
  readonly rule: PolicyRule;
  tried: number;
  /** The dispatches that passed, and would not. */
  changed: number;
  readonly counts: Record<'denied' | 'asked' | 'failed', number>;
  readonly samples: { readonly eventId: string; readonly verdict: string; readonly why: string }[];
}

/** Dispatches to each rule alone what a journal holds of its family. Nothing else is called. */
async function tryOnJournal(
  { rules }: Policies,
  { options, shell }: Given<PolicyOptions>,
): Promise<Answer> {
  const sinceMs = options.since === undefined ? 0 : sinceMsOf(options.since, Date.now());
  await using reader = await openJournalOf(options, shell);
  const tallies = rules.map(
    (rule): Tally => ({
      ...{ rule, tried: 0, changed: 0, samples: [] },
      counts: { denied: 0, asked: 0, failed: 0 },
    }),
  );
  const { event: eventId } = options;
  let isKnown = eventId === undefined;
  let withoutPayload = 0;
  for await (const record of allDispatches(reader, definedFields({ eventId }))) {
    isKnown = true;
    if (record.occurredAtMs < sinceMs) continue;
    const of = tallies.filter(({ rule }) => rule.family === record.family);
    if (of.length === 0) continue;
    const { event, payload, principal, omitted, status } = recordedOutcome(record);
    if (omitted !== undefined) {
      withoutPayload++;
      continue;
    }
    for (const tally of of) {
      const { payload: _, family: __, hotPath: ___, ...refs } = event;
      const given = { ...refs, ...(principal !== undefined && { principal }) } as GivenDispatch; // as it was dispatched
      const { verdict, why = '' } = await tally.rule.tryOn(structuredClone(payload), given);
      tally.tried++;
      if (verdict !== 'allowed') tally.counts[verdict]++;
      else if (eventId === undefined) continue;
      if (verdict !== 'allowed' && status === 'passed') tally.changed++;
      const sample = { eventId: record.eventId, verdict, why };
      if (tally.samples.length < samplesAtMost) tally.samples.push(sample);
    }
  }
  if (!isKnown) throw unknownEvent(eventId ?? '');
  if (withoutPayload > 0 && options.json !== true)
    shell.stderr.lines([
      `sluice: warn: ${counted(withoutPayload, 'dispatch', 'dispatches')} of the journal have no payload, and were left out`,
    ]);
  return {
    data: tallies.map(({ rule: { id, family }, counts, ...rest }) => ({
      ...{ id, family, ...counts, ...rest },
    })),
    lines: (layout) => tallies.flatMap((tally) => tallyLines(tally, layout)),
  };
}

function tallyLines(
  { rule, tried, changed, counts, samples }: Tally,
  { palette, width }: Layout,
): string[] {
  const { denied, asked, failed } = counts;
  return [
    `${rule.id}: ${counted(tried, 'dispatch', 'dispatches')} of ${rule.family}: ${denied} denied, ${asked} asked, ${failed} failed; ${changed} of them had passed`,
    ...samples.flatMap(({ eventId, verdict, why }) => {
      const line = printable(`${verdict} ${eventId}${why === '' ? '' : `: ${why}`}`);
      return laidOut(line, 2, palette.plain, width);
    }),
  ];
}

/** A rule of a policy file, as its package has it. */
interface PolicyRule {
  readonly id: string;
  readonly family: string;
  tryOn(
    payload: object,
    given: GivenDispatch,
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
    /** Absent in versions before. */
    readonly unmet?: readonly string[];
  }>;
  readonly PolicyError: new (...args: never[]) => Error;
}
