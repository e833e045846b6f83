import { satisfies, valid, validRange } from 'semver';
import { z } from 'zod';
import { extensionError } from '../errors.js';

const manifestSchema = z.strictObject({
  version: z
    .string()
    .refine((text) => valid(text) !== null, 'must be a version, such as "1.2.0"')
    .exactOptional(),
  sluice: z
    .string()
    .refine((text) => validRange(text) !== null, 'must be a range of versions, such as "^0.1.0"')
    .exactOptional(),
  grants: z
    .array(
      z
        .string()
        .regex(
          /^([^\s:]+:[^\s:]+|send:\S+|schedule|inject|tap)$/,
          'must be "class:family", "family:field", "provide:kind", "send:channel", "schedule", "inject" or "tap"',
        ),
    )
    .exactOptional(),
});

/**
 * The facts that an extension states about itself (spec §13.6). They stand in the code, so that a single file and a package
 * state them in one way, and they cannot differ from the code that is loaded.
 *
 * @example
 * defineExtension({ id: 'persona', manifest: { version: '1.2.0', sluice: '^0.1.0', grants: ['mutator:agent.prompt.building'] }, setup });
 */
export interface Manifest {
  /** Its own version. */
  readonly version?: string;
  /** The versions of Sluice that it runs with, as a range. */
  readonly sluice?: string;
  /** The grants that it asks for, as in the config: `class:family`, `family:field` or `send:channel`, say. Asking grants nothing. */
  readonly grants?: readonly string[];
}

/** Names the mistake of a manifest and its place; `undefined` if the manifest is well formed. */
export function manifestProblem(manifest: unknown): string | undefined {
  const result = manifestSchema.safeParse(manifest);
  const [issue] = result.success ? [] : result.error.issues;
  if (issue === undefined) return undefined;
  const at = issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  return `its manifest${at}: ${issue.message}`;
}

/** @throws SluiceError `wrong-sluice` if an extension does not run with a version. */
export function checkSluice(extensionId: string, { sluice }: Manifest, version: string): void {
  if (sluice === undefined || satisfies(version, sluice, { includePrerelease: true })) return;
  throw extensionError('wrong-sluice', { extensionId, range: sluice, version });
}
