import { z } from 'zod';
import { milliseconds } from './milliseconds.js';

/** When a handler that fails is left alone (spec §12.6). */
export const quarantine = z.strictObject({
  failures: z
    .number()
    .int()
    .positive()
    .describe('how many failures of a handler within the window are too many')
    .exactOptional(),
  windowMs: milliseconds('the window in which the failures of a handler count').exactOptional(),
  coolDownMs: milliseconds('how long a handler is left alone before it is tried').exactOptional(),
});

/** What handlers are watched for (spec §13.11). */
export const handlerWatch = z.strictObject({
  attributeRejections: z
    .boolean()
    .describe('true or false: stray rejections are laid at the door of their extension')
    .exactOptional(),
  blockedAfterMs: z
    .union([z.literal(false), z.number().positive()])
    .describe('milliseconds of blocking that are told of, or false')
    .exactOptional(),
});
