import { z } from 'zod';

const fields = z.record(z.string(), z.unknown());

/** Milliseconds that an operator may give a hook. */
const budget = z.int().positive().max(600_000);

const entrySchema = z
  .looseObject({
    enabled: z.boolean().optional().catch(undefined),
    hooks: z
      .looseObject({
        allowPromptInjection: z.boolean().optional(),
        allowConversationAccess: z.boolean().optional(),
        timeoutMs: budget.optional().catch(undefined),
        timeouts: z.record(z.string(), budget).optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
    config: fields.optional(),
  })
  .catch({});

/** The entry of one plugin in an OpenClaw configuration: `plugins.entries.<id>`. */
export type PluginEntry = Readonly<z.output<typeof entrySchema>>;

/** Reads a plugin's entry; an empty one if there is none, or none that can be read. */
export function pluginEntryOf(config: Readonly<Record<string, unknown>>, id: string): PluginEntry {
  const entries = z.looseObject({ plugins: z.looseObject({ entries: fields }) }).safeParse(config);
  const all = entries.data?.plugins.entries ?? {};
  return Object.hasOwn(all, id) ? entrySchema.parse(all[id]) : {};
}
