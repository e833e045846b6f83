import { forgetInFile, type Whose } from '@sluice/journal/internal';
import { Option } from 'commander';
import { badArguments } from '../errors/command-error.js';
import type { Action } from '../resource/resource.js';
import { placeName } from '../settings/journal-place.js';
import { inPlace } from './backup.js';
import { type JournalChoice, journalPlace } from './journal-of.js';

/** The options of `sluice journal forget`. */
export interface ForgetOptions extends JournalChoice {
  readonly sender?: string;
  readonly conversation?: string;
  readonly dryRun?: boolean;
}

/** The action that removes what one sender, or those of one conversation, have said and were told. */
export const forget: Action<ForgetOptions> = {
  summary:
    'remove the texts of one sender or conversation, while no host uses the journal: its messages, answers, sessions and questions; ids, times and ends stay',
  options: [
    new Option('--sender <id>', 'the id of a sender, as its channel gives it'),
    new Option('--conversation <id>', 'the id of a conversation'),
    new Option('--dry-run', 'only count: a host may run'),
  ],
  work: async ({ options, shell }) => {
    const whose = whoseOf(options);
    const isDry = options.dryRun === true;
    const place = await journalPlace(options, shell);
    const journal = placeName(place);
    const counts = await inPlace({ what: 'forgetting', to: journal, options, shell }, (stop) =>
      'path' in place
        ? forgetInFile(place.path, whose, isDry, stop)
        : place.kind.forget(place, whose, isDry, stop),
    );
    const { open, ...gone } = counts;
    const list = Object.entries(gone).map(([what, count]) => `${what} ${count}`);
    const left = `messages that have not ended, and stay: ${open}. Run it again when the next host has ended them`;
    return {
      data: [{ journal, ...whose, isDry, ...counts }],
      lines: () => [
        `${journal}: texts that ${isDry ? 'would go' : 'are gone'}: ${list.join(', ')}`,
        ...(open === 0 ? [] : [left]),
      ],
    };
  },
};

function whoseOf({ sender, conversation }: ForgetOptions): Whose {
  if (sender && conversation === undefined) return { of: 'sender', id: sender };
  if (conversation && sender === undefined) return { of: 'conversation', id: conversation };
  throw badArguments(
    'forget needs the id of a sender or of a conversation',
    'Write --sender ID or --conversation ID: `sluice explain MESSAGE --json` shows both.',
  );
}
