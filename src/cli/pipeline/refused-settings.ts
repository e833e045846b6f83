import { isSluiceError } from '../../kernel/index.js';
import { CommandError } from '../errors/command-error.js';

/**
 * Makes something that settings go into. An option that is refused there came from the config, and is told as
 * its mistake.
 *
 * @throws CommandError `bad-config`, and what `make` throws otherwise.
 */
export function refusedSettings<T>(make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    if (!isSluiceError(thrown, 'bad-option')) throw thrown;
    throw new CommandError('bad-config', thrown.message, thrown.hint, { cause: thrown });
  }
}
