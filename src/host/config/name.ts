import { z } from 'zod';

/** A short text, as a setting: the name of something, or its path. */
export const name = z.string().min(1).max(200);
