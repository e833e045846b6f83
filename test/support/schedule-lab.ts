import type { ExtensionApi, ScheduledRun, ScheduleHandler } from '../../src/sdk/extension/index.js';
import { type ActingLab, type ActingLabOptions, actingLab } from './acting-lab.js';

type Times = Parameters<ExtensionApi['schedule']>[1];

/** A host with one schedule, and the runs of it. */
export interface ScheduleLab extends ActingLab {
  readonly runs: readonly ScheduledRun[];
}

export interface ScheduleLabOptions extends Omit<ActingLabOptions, 'setup'> {
  readonly times?: Times;
  /** Told of each run. */
  readonly handler?: ScheduleHandler;
}

/** A host whose extension `acting` has the schedule `tick`: each minute, if the test does not say. */
export async function scheduleLab({
  times = { cron: '* * * * *' },
  handler = () => undefined,
  ...options
}: ScheduleLabOptions = {}): Promise<ScheduleLab> {
  const runs: ScheduledRun[] = [];
  const lab = await actingLab({
    ...options,
    setup: (api) =>
      api.schedule('tick', times, (run) => {
        runs.push(run);
        return handler(run);
      }),
  });
  return { ...lab, runs };
}
