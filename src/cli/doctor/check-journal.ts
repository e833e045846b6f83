import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readJournal } from '../../host/index.js';
import type { Settings } from '../settings/settings.js';
import { counted } from '../shell/text.js';
import { type Finding, findingOf } from './finding.js';

/** Dead letters that are counted. */
const most = 1_000;

/**
 * Looks at the journal without writing to it: whether it can be read, also while a host uses it; whether its place can be
 * written; and what waits in it for an operator.
 */
export async function checkJournal({ journal }: Pick<Settings, 'journal'>): Promise<Finding[]> {
  if (journal === undefined)
    return [
      { severity: 'ok', check: 'journal', what: 'there is none: a crash loses what it interrupts' },
    ];
  const { path } = journal;
  const isThere = existsSync(path);
  const problem = whyNotWritable(isThere ? path : dirname(path));
  if (problem !== undefined) return [{ ...problem, whose: path }];
  if (!isThere)
    return [{ severity: 'ok', check: 'journal', what: 'will be made there', whose: path }];
  try {
    const reader = await readJournal(path);
    try {
      const dead = await reader.updates({ states: ['dead'], limit: most });
      const open = await reader.updates({ states: ['accepted', 'handling'], limit: most });
      await reader.sends({ limit: 1 });
      await reader.dispatches({ limit: 1 });
      const what = `can be read; ${counted(open.length, 'message waits', 'messages wait')} to be handled`;
      const findings: Finding[] = [{ severity: 'ok', check: 'journal', what, whose: path }];
      if (dead.length > 0)
        findings.push({
          severity: 'warning',
          check: 'journal',
          what: `holds ${counted(dead.length, 'dead letter', 'dead letters')}`,
          whose: path,
          hint: 'See `sluice journal list --state dead`, and retry or purge them.',
        });
      return findings;
    } finally {
      await reader.close();
    }
  } catch (thrown) {
    return [findingOf('journal', thrown, path)];
  }
}

function whyNotWritable(path: string): Finding | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return {
      severity: 'error',
      check: 'journal',
      what: existsSync(path) ? 'cannot be written' : 'its folder is not there',
      hint: 'Make the folder, or give the user of the host the right to write there.',
    };
  }
}
