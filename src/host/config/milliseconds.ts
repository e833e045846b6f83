import { z } from 'zod';
import { longestTimerMs } from '../../kernel/index.js';

/** Milliseconds, as a setting: what they are of. */
export const milliseconds = (what: string) =>
  z.number().positive().max(longestTimerMs).describe(`milliseconds, such as 10000: ${what}`);
