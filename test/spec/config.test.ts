import { describe, it } from 'vitest';
import { z } from 'zod';
import { configSchema } from '../../src/host/config/schema.js';
import { everySetting } from '../support/config-settings.js';
import { expectFresh, heading, table } from '../support/generated.js';

const about =
  'These are the settings of `sluice.config.ts`, `.mts`, `.js`, `.mjs` or `.json` (§20 of event-pipeline.md). Every setting may be left out, but\n' +
  'for the `id`, `path` and `provider` of what is listed. `[]` stands for each entry of a list, `*` for a name of yours. Paths are read from the folder of the\n' +
  "file. Within `config` and `openclaw`, `{ env: 'NAME' }` or `{ secretFile: 'PATH' }` may stand for a text.\nA secret file that others may read is warned of, at the start and by `sluice doctor`: give it mode 0600. An editor completes the JSON\n" +
  'form by `"$schema": "node_modules/sluice/spec/config.schema.json"`, and the TypeScript form by `defineConfig` of `sluice/host`.';

describe('the settings of a config file', () => {
  it('are listed in spec/config.md', () => {
    const rows = everySetting(configSchema).map(({ place, type, what }) => [
      `\`${place}\``,
      type,
      what,
    ]);
    expectFresh(
      'spec/config.md',
      `${heading('Configuration', about, 'test/spec/config.test.ts')}\n${table(['setting', 'type', 'write'], rows)}\n`,
    );
  });

  it('have a JSON Schema for editors', () => {
    const schema = z.toJSONSchema(configSchema, {
      ...{ io: 'input', unrepresentable: 'any' }, // a function has no JSON
      override: ({ zodSchema, jsonSchema }) => {
        if (!(zodSchema instanceof z.core.$ZodPipe)) return;
        const { $schema: _, ...object } = z.toJSONSchema(zodSchema._zod.def.out, { io: 'input' });
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        jsonSchema.anyOf = [{ type: 'string' }, object]; // a text may be written for the object
      },
    });
    expectFresh('spec/config.schema.json', `${JSON.stringify(schema, null, 2)}\n`);
  });
});
