import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { KernelOptions } from 'sluice-kernel';
import { kernelError } from 'sluice-kernel/internal';
import type { DispatchTapOptions } from '../timeline/dispatch-tap.js';
import type { TimelineRecorder } from '../timeline/timeline-recorder.js';
import type { HostJournal, HostOptions, HostProgram } from './options.js';

/** @deprecated Use the groups of `HostOptions`, and for what no config can hold the second argument of `createHost`. */
export interface FlatHostOptions extends HostProgram {
  readonly defaultAgentId?: string;
  readonly kernelOptions?: KernelOptions;
  readonly way?: TimelineRecorder;
  readonly sendTimeoutMs?: number;
  readonly reloadTimeoutMs?: number;
  readonly maxRunning?: number;
  readonly laneCapacity?: number;
  readonly capacity?: number;
  readonly whenLaneFull?: 'refuse' | 'drop' | 'wait';
  readonly closesJournal?: boolean;
  readonly journalDispatches?: DispatchTapOptions | false;
  readonly maxAttempts?: number;
  readonly lastAttemptAfterMs?: number;
  readonly maxUpdateLength?: number;
}

type Moved = Exclude<keyof FlatHostOptions, keyof HostProgram>;

/** The place of each of them now. */
const moved: Readonly<Record<Moved, readonly ['all' | 'lanes' | 'budgets' | 'journal', string]>> = {
  defaultAgentId: ['all', 'defaultAgent'],
  kernelOptions: ['all', 'kernel'],
  way: ['all', 'timeline'],
  sendTimeoutMs: ['budgets', 'sendTimeoutMs'],
  reloadTimeoutMs: ['budgets', 'reloadTimeoutMs'],
  maxRunning: ['lanes', 'maxRunning'],
  laneCapacity: ['lanes', 'capacity'],
  capacity: ['lanes', 'total'],
  whenLaneFull: ['lanes', 'whenFull'],
  closesJournal: ['journal', 'closes'],
  journalDispatches: ['journal', 'dispatches'],
  maxAttempts: ['journal', 'maxAttempts'],
  lastAttemptAfterMs: ['journal', 'lastAttemptAfterMs'],
  maxUpdateLength: ['journal', 'maxUpdateLength'],
};

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

/** Puts the options of a host into their places, those in a place of earlier versions too. */
export function givenOptions(
  config: HostOptions & FlatHostOptions,
  program: HostProgram,
): GivenOptions {
  const all = { ...config, ...program };
  const { journal = {}, channels: listed = [] } = all;
  const groups = {
    all,
    lanes: { ...all.lanes },
    budgets: { ...all.budgets },
    journal: { ...('keyValues' in journal ? { opened: journal } : journal) },
  };
  const given: Readonly<Record<string, unknown>> = { ...config };
  for (const [name, [group, now]] of Object.entries(moved))
    if (given[name] !== undefined && Object(groups[group])[now] === undefined)
      Object.assign(groups[group], { [now]: given[name] }); // what stands in a place of today wins
  if (given['startOnly'] !== undefined)
    throw kernelError('bad-option', {
      option: 'startOnly',
      problem: 'name the channels to start in `channels`',
    });
  const channels = listed.filter((one) => typeof one !== 'string');
  const isAll = channels.length === listed.length;
  const startOnly = listed.map((one) => (typeof one === 'string' ? one : one.id));
  const { lanes, budgets, journal: kept } = groups;
  return {
    ...all,
    lanes,
    budgets,
    journal: kept,
    channels,
    startOnly: isAll ? undefined : startOnly,
  };
}
