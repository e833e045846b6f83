import { allow, cancel, defineExtension } from 'sluice';
import { config } from './config.js';
import { clockIn, isWithin } from './local-time.js';

/** Keeps messages back between two times of day. The README has the settings. */
export default defineExtension({
  id: 'quiet-hours',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['veto:egress.preparing'] },
  config,
  setup(api, { from, to, timeZone, allowKinds, failClosed }) {
    const timeOfDay = clockIn(timeZone);
    let keptBack = 0;

    // it judges the time, not the text: parts of a reply may be shown before the whole is judged
    api.veto('egress.preparing', 'night', { failClosed, preview: 'ok' }, ({ event, payload }) => {
      if (allowKinds.includes(payload.kind)) return allow();
      // the event's own time: what is replayed tomorrow is judged as it was today
      if (!isWithin(timeOfDay(event.occurredAt), from, to)) return allow();
      return cancel('quiet-hours', {
        text: `quiet until ${to} (${timeZone})`,
        details: { from, to, timeZone },
      });
    });

    api.observe('egress.cancelled', 'count', ({ payload }, own) => {
      if (payload.cancel.extensionId !== own.extensionId) return;
      keptBack += 1;
      own.log.info('kept a message back', { to: payload.to, kind: payload.kind, keptBack });
    });

    api.own('summary', () => api.log.info(`kept ${keptBack} back in all`));
  },
});
