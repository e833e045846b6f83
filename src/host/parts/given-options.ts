import type { ChannelPlugin } from '@sluice/sdk/channel';
import { didYouMean, kernelError } from 'sluice-kernel/internal';
import type { HostJournal, HostOptions, HostProgram } from './options.js';

/** The names of the options: of the config, and of the program. */
const optionNames = new Set(
  `about agents approvals audit budgets cancelText channels clock commands defaultAgent extensions failureText grants ingress
  journal kernel lanes leastPrivilege locale logger newId onAmbiguousSend onEvent onMessageEnd overrides plugins providers quarantine
  replies roles session stateDir store texts timeline`.split(/\s+/),
);

/** The options of a host among the settings of a config file and of its reader. */
export function hostSettings<S extends object>(settings: S): Pick<S, keyof S & keyof HostOptions> {
  const own = Object.entries(settings).filter(([name]) => optionNames.has(name));
  return Object.fromEntries(own) as Pick<S, keyof S & keyof HostOptions>; // the names are those of the options
}

/** All options of a host in one, as its steps read them. */
export interface GivenOptions
  extends Omit<HostOptions, 'journal' | 'channels' | 'lanes' | 'budgets'>,
    HostProgram {
  readonly lanes: NonNullable<HostOptions['lanes']>;
  readonly budgets: NonNullable<HostOptions['budgets']>;
  readonly journal: HostJournal;
  readonly channels: readonly ChannelPlugin[];
  /** The ids of the channels to start, if not all are. */
  readonly startOnly?: readonly string[] | undefined;
}

/**
 * Puts the options of a host into one.
 *
 * @throws SluiceError `bad-option` for a name that no option has.
 */
export function givenOptions(
  config: HostOptions & HostProgram,
  program: HostProgram,
): GivenOptions {
  const all = { ...config, ...program };
  for (const option of Object.keys(all))
    if (!optionNames.has(option)) {
      const problem = `a host has none of this name${didYouMean(option, optionNames)}`;
      throw kernelError('bad-option', { option, problem });
    }
  const { journal = {}, channels: listed = [] } = all;
  const channels = listed.filter((one) => typeof one !== 'string');
  const ids = listed.map((one) => (typeof one === 'string' ? one : one.id));
  return {
    ...all,
    lanes: all.lanes ?? {},
    budgets: all.budgets ?? {},
    journal: 'keyValues' in journal ? { opened: journal } : journal,
    channels,
    startOnly: channels.length === listed.length ? undefined : ids,
  };
}
