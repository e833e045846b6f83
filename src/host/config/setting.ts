import { longestTimerMs } from 'sluice-kernel/internal';
import { z } from 'zod';

/** A setting that a config may leave out. Its text ends the sentence "Write ...". */
export const setting = <Type extends z.ZodType>(type: Type, text: string) =>
  type.describe(text).exactOptional();

/** A setting that has a value of its own if a config leaves it out. Its text ends the sentence "Write ...". */
export const settingOr = <Type extends z.ZodType>(
  otherwise: z.core.util.NoUndefined<z.output<Type>>,
  type: Type,
  text: string,
) => type.describe(text).default(otherwise);

/** A short text: the name of something, or its path. */
export const name = z.string().min(1).max(200);

/** The form of an entry of a role: a channel, perhaps an account, and the id of a sender, which neither begins nor ends with a space. */
export const roleEntry = /^([^:/\s]+)(?:\/([^:\s]+))?:(\S|\S.*\S)$/s;

/** A whole number from 1 up. */
export const count = z.number().int().positive();

/** A length of time in milliseconds. The text says how long it lasts. */
export const milliseconds = (text: string) =>
  z.number().positive().max(longestTimerMs).describe(`milliseconds, such as 10000: ${text}`);

/** A length of time that a config may leave out. */
export const duration = (text: string) => milliseconds(text).exactOptional();

/** A number of things that may be there at once. The text says which things. */
export const atOnce = (text: string) => setting(count, `a number, such as 8: ${text}`);
