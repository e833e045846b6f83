import { Trail } from '@sluice/agent';
import type { Outcome, PayloadOf } from 'sluice-kernel';
import { attempt } from '../parts/attempt.js';
import type { HostParts } from '../parts/parts.js';

type Changed = PayloadOf<'schedule.changed'>;

/**
 * Tells of a schedule as `schedule.changed` (extensions-that-act §6.6). Never rejects.
 *
 * @param names its extension, its name, and the key of times that were added.
 */
export async function reportSchedule(
  parts: Pick<HostParts, 'kernel' | 'logger'>,
  { names, spec }: { readonly names: readonly string[]; readonly spec: string },
  told: Omit<Changed, 'scheduleId' | 'cron' | 'at' | 'timeZone'>,
  after?: Outcome,
): Promise<void> {
  const times = JSON.parse(spec) as Pick<Changed, 'cron' | 'at' | 'timeZone'>; // readTimes has written it
  const payload = { scheduleId: names.join('/'), ...times, ...told };
  await attempt(parts, 'schedule.changed', () =>
    new Trail(parts.kernel, after).dispatch('schedule.changed', payload),
  );
}
