import { existsSync } from 'node:fs';
import { type RecordedOutcome, recordedOutcome } from '@sluice/host/internal';
import {
  mayMatch,
  nameOf,
  type PlannedHandler,
  type Stage,
  type StageInfo,
} from 'sluice-kernel/internal';
import { matchTexts } from '../print/match-text.js';
import { type JournalPlace, readPlace } from '../settings/journal-place.js';
import { counted } from '../shell/text.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('matches');

/** Rows of the journal, the newest, that are looked at for each family. */
const lookedAt = 1_000;

/**
 * Looks at the matches of handlers: those by which an operator narrows a fail-closed veto, and those that no dispatch of
 * the journal has met (judgement §2.4, judgement §2.9).
 */
export async function checkMatches(
  stages: readonly StageInfo[],
  journal: JournalPlace | undefined,
): Promise<Finding[]> {
  const matched = stages.flatMap(({ stage, handlers }) =>
    handlers.filter(hasMatch).map((handler) => ({ stage, handler })),
  );
  if (matched.length === 0) return [];
  const found = matched.flatMap(({ handler }) => narrowed(handler));
  if (journal !== undefined && (!('path' in journal) || existsSync(journal.path)))
    try {
      found.push(...(await neverMet(matched, journal)));
    } catch {
      // the check of the journal tells of a file that cannot be read
    }
  return found;
}

function hasMatch({ match, operatorMatch, disabled }: PlannedHandler): boolean {
  return !disabled && (match !== undefined || operatorMatch !== undefined);
}

function narrowed(handler: PlannedHandler): Finding[] {
  const { operatorMatch, policy } = handler;
  if (operatorMatch === undefined || handler.class !== 'veto' || policy !== 'closed') return [];
  const [when = ''] = matchTexts({ match: undefined, operatorMatch });
  const what = `a veto that fails closed is narrowed ${when}`;
  const hint =
    'Whatever the match leaves out passes unjudged. Remove it from the override if that is not meant.';
  return [findings.warning(what, nameOf(handler), hint)];
}

async function neverMet(
  matched: readonly { readonly stage: Stage; readonly handler: PlannedHandler }[],
  journal: JournalPlace,
): Promise<Finding[]> {
  await using reader = await readPlace(journal);
  const found: Finding[] = [];
  for (const stage of new Set(matched.map((one) => one.stage))) {
    const records = await reader.dispatches({
      family: stage.family as 'egress.preparing', // any family: a custom one has dispatches, too
      withinLast: lookedAt,
      limit: lookedAt,
    });
    const whole = records.filter(({ omitted }) => omitted === undefined).map(recordedOutcome);
    for (const { handler } of matched.filter((one) => one.stage === stage)) {
      if (whole.length === 0) {
        const what = `its match: the journal has no payload of "${stage.family}"`;
        found.push(findings.unchecked(what, nameOf(handler)));
        continue;
      }
      if (whole.some((one) => mayMatch(handler, (key) => [valueIn(one, stage, key)]))) continue;
      const of = counted(whole.length, 'dispatch', 'dispatches');
      const what = `is never called: none of the last ${of} of "${stage.family}" in the journal meets its match, ${matchTexts(handler).join(', and ')}`;
      const hint =
        'Compare the match with the values in `sluice journal`; texts are compared exactly.';
      found.push(findings.warning(what, nameOf(handler), hint));
    }
  }
  return found;
}

/** The value that a field of a match had in a dispatch, by the rules of judgement §2.1. */
function valueIn({ event, principal }: RecordedOutcome, { payload }: Stage, key: string): unknown {
  const path = key.split('.');
  const [head = ''] = path;
  const root: unknown = Object.hasOwn(payload.properties, head)
    ? event.payload
    : { ...event, principal };
  return path.reduce<unknown>((at, name) => Object(at)[name], root);
}
