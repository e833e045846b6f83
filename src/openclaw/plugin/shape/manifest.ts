import { oneLine } from 'sluice-kernel/internal';
import { z } from 'zod';
import { legacyError } from '../../errors.js';

const trimmed = z.string().trim();
const names = z
  .array(z.unknown())
  .transform((list) => list.filter((name) => typeof name === 'string').map((name) => name.trim()))
  .optional()
  .catch(undefined);

/** Only what plugins fail to load without is refused; the rest is read where it can be, as OpenClaw does. */
const manifestSchema = z.object({
  id: trimmed.min(1, 'it must be a name'),
  configSchema: z.record(z.string(), z.unknown()),
  kind: z.string().optional().catch(undefined),
  name: trimmed.optional().catch(undefined),
  description: trimmed.optional().catch(undefined),
  version: trimmed.optional().catch(undefined),
  channels: names,
  providers: names,
  skills: names,
});

/** An `openclaw.plugin.json`: what OpenClaw knows of a plugin before it runs it. */
export interface LegacyManifest {
  readonly id: string;
  /** A JSON Schema. */
  readonly configSchema: Readonly<Record<string, unknown>>;
  /** An exclusive slot: `memory` or `context-engine`. */
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly providers?: readonly string[] | undefined;
  readonly skills?: readonly string[] | undefined;
}

/** The file name of a manifest. */
export const manifestName = 'openclaw.plugin.json';

/**
 * Reads the text of a manifest.
 *
 * @param file its name, for the error.
 * @throws SluiceError `bad-manifest`.
 */
export function parseLegacyManifest(text: string, file: string): LegacyManifest {
  const refuse = (problem: string, cause?: unknown): never => {
    throw legacyError('bad-manifest', { file, problem }, { cause });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return refuse(notJson(cause), cause);
  }
  const result = manifestSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = issue === undefined ? '' : z.core.toDotPath(issue.path);
  const missing = typeof value === 'object' && value !== null && at !== '' && !(at in value);
  return refuse(
    missing ? `"${at}" is missing` : `${at || 'its top level'}: ${issue?.message ?? 'it is wrong'}`,
  );
}

/** Why a text is not JSON, and where in it. */
export function notJson(cause: unknown): string {
  return `it is not JSON: ${cause instanceof Error ? cause.message : oneLine(cause)}`;
}
