import { findModule } from '@sluice/sdk/extension/internal';
import { CommandError } from '../errors/command-error.js';
import { installable } from './package-source.js';

/**
 * Imports a package of this project from where the user works.
 *
 * @param what begins the error's sentence: "policies are".
 * @returns the package, which has the version of the core, its peer.
 * @throws CommandError `missing-package`.
 */
export async function ownPackage<Package>(
  name: string,
  what: string,
  cwd: string,
): Promise<Package> {
  const { file, url } = findModule(name, cwd);
  if (file === name)
    throw new CommandError(
      'missing-package',
      `${what} in the package "${name}", which is not installed here`,
      `Run \`npm install ${installable(name)}\`.`,
    );
  return (await import(url)) as Package; // as its peer dependency promises
}
