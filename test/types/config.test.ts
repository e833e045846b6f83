import { describe, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type { configSchema } from '../../src/host/config/schema.js';
import type { SluiceConfig } from '../../src/host/config/sluice-config.js';

describe('the type of a config file', () => {
  it('is the input of its schema, in all parts (event-pipeline §20.1)', () => {
    expectTypeOf<SluiceConfig>().toEqualTypeOf<z.input<typeof configSchema>>();
    expectTypeOf<keyof SluiceConfig>().toEqualTypeOf<keyof z.input<typeof configSchema>>();
  });
});
