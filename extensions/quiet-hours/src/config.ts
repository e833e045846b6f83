import { z } from 'zod';
import { isTimeZone } from './local-time.js';

const timeOfDay = z.string('must be HH:MM').regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be HH:MM');

/** The settings of the extension. A key that is not here is refused. */
export const config = z
  .strictObject({
    from: timeOfDay,
    to: timeOfDay,
    timeZone: z
      .string()
      .refine(isTimeZone, 'must be a time zone, such as Europe/Lisbon')
      .default('UTC'),
    allowKinds: z.array(z.string()).default(['reply', 'block', 'stream-opening', 'stream-final']),
    failClosed: z.boolean().default(false),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'must differ from config.from' });
