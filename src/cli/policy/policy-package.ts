import { findModule } from '../../extension/internal.js';
import type { Given } from '../../kernel/index.js';
import { CommandError } from '../errors/command-error.js';

const name = 'sluice-policies';

/** A rule of a policy file, as its package has it. */
export interface PolicyRule {
  readonly id: string;
  readonly family: string;
  tryOn(
    payload: object,
    given: Given,
  ): Promise<{
    readonly verdict: 'denied' | 'asked' | 'allowed' | 'failed';
    readonly why?: string;
  }>;
}

/** The package of policies, as far as the command line needs it. */
export interface PolicyPackage {
  readPolicies(files: readonly string[]): Promise<{
    readonly rules: readonly PolicyRule[];
    readonly exampleCount: number;
  }>;
  readonly PolicyError: new (...args: never[]) => Error;
}

/** Imports the package from where the user works. @throws CommandError `missing-package`. */
export async function policyPackage(cwd: string): Promise<PolicyPackage> {
  const { file, url } = findModule(name, cwd);
  if (file === name)
    throw new CommandError(
      'missing-package',
      `policies are in the package "${name}", which is not installed here`,
      `Run \`npm install ${name}\`.`,
    );
  return (await import(url)) as PolicyPackage; // the package has the version of the core, its peer
}
