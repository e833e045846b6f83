import { Trail } from '@sluice/agent';
import type { Outcome, PayloadOf } from 'sluice-kernel';
import { attempt } from '../parts/attempt.js';
import type { ClaimedRegistration } from '../parts/claimed-provisions.js';
import type { HostParts } from '../parts/parts.js';

type Changed = PayloadOf<'schedule.changed'>;

/** Tells of a schedule as `schedule.changed` (extensions-that-act §6.6). Never rejects. */
export async function reportSchedule(
  parts: Pick<HostParts, 'kernel' | 'logger'>,
  { extensionId, registration: { name, value } }: ClaimedRegistration<'schedule'>,
  told: Omit<Changed, 'scheduleId' | 'cron' | 'at' | 'timeZone'>,
  after?: Outcome,
): Promise<void> {
  const times = JSON.parse(value.spec) as Pick<Changed, 'cron' | 'at' | 'timeZone'>; // readSchedule has written it
  const payload = { scheduleId: `${extensionId}/${name}`, ...times, ...told };
  await attempt(parts, 'schedule.changed', () =>
    new Trail(parts.kernel, after).dispatch('schedule.changed', payload),
  );
}
