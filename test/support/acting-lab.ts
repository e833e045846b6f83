import type { HostJournal } from '../../src/host/index.js';
import { type Journal, memoryJournal } from '../../src/journal/index.js';
import { defineExtension, type ExtensionApi } from '../../src/sdk/extension/index.js';
import { type HostLab, type HostLabOptions, hostLab } from './host-lab.js';
import { mortalJournal } from './mortal-journal.js';

/** A host with one extension in the hands of a test. */
export interface ActingLab extends HostLab {
  /** The api of the extension `acting`. */
  readonly api: ExtensionApi;
  /** Ends the host as a killed process would. Resolves when the writes that had begun are in the journal, and no other is. */
  kill(): Promise<void>;
}

export interface ActingLabOptions extends HostLabOptions {
  readonly setup?: (api: ExtensionApi) => void;
  readonly journal?: Journal;
  readonly journalSettings?: HostJournal;
  /** Says which writes of the journal fail. */
  readonly failing?: Parameters<typeof mortalJournal>[1];
}

/** A host with the extension `acting`, whose setup is the test's. */
export async function actingLab({
  setup = () => undefined,
  journal = memoryJournal({ acknowledge: 'ended' }),
  journalSettings,
  failing,
  ...options
}: ActingLabOptions = {}): Promise<ActingLab> {
  let given: ExtensionApi | undefined;
  const mortal = mortalJournal(journal, failing);
  const extension = defineExtension({
    id: 'acting',
    setup: (api) => {
      given = api;
      setup(api);
    },
  });
  const lab = await hostLab({
    ...options,
    journal: { opened: mortal, ...journalSettings },
    extensions: [{ extension }],
  });
  if (given === undefined) throw new Error('the extension was not set up');
  const kill = async (): Promise<void> => {
    mortal.kill();
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };
  return { ...lab, api: given, kill };
}
