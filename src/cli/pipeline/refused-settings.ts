import { isSluiceError } from '../../kernel/index.js';
import { CommandError } from '../errors/command-error.js';

/**
 * Makes something of settings. An option that is refused came from the config, so the error is one of the config.
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
