import type { z } from 'zod';
import type { configSchema } from './schema.js';

/** A config file as it is written. A setting with a `?` may be left out. spec/config.md has a table of all settings. */
export interface SluiceConfig extends z.input<typeof configSchema> {}
