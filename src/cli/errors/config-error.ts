import { type ConfigProblem, placeOf } from '../../host/internal.js';
import { CommandError } from './command-error.js';

/** The error of a config file that cannot be used, with every problem of it. */
export class ConfigError extends CommandError {
  /** One error for each problem: each is a line of its own. */
  readonly each: readonly CommandError[];

  constructor(file: string, problems: readonly ConfigProblem[]) {
    const each = problems.map(
      ({ path, message, hint }) =>
        new CommandError('bad-config', `${file} at ${placeOf(path)}: ${message}`, hint),
    );
    const [first] = each;
    super(
      'bad-config',
      each.map(({ message }) => message).join('; '),
      first?.hint ?? 'Mend the config.',
    );
    this.each = each;
  }
}
