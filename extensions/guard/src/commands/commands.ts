import { places } from '../install/places.js';
import { GuardError } from '../install/settings-text.js';
import { examine } from './doctor.js';
import { type InitOptions, init, remove } from './install.js';

/** The report of a command: data, lines for people, and problems, of which there are none if all is well. */
export interface Report {
  readonly data: readonly object[];
  readonly lines: readonly string[];
  readonly problems: readonly string[];
}

/** The work of `sluice guard init`, `remove` and `doctor`. */
export const commands = {
  init: reporting(async (options) => {
    const done = await init(options);
    const config = options.user ? ' --config ~/.sluice/guard.config.json' : '';
    const wrote = options.dryRun ? 'would write' : 'wrote';
    const lines = done.map(({ file, did }) => `${did === 'wrote' ? wrote : did} ${file}`);
    const notices = done.flatMap(({ agent = '' }) => places[agent]?.notice ?? []);
    const next = `Next: run \`sluice guard run${config}\`, and ask an agent to run "rm -rf ./old".`;
    return { data: done, lines: [...lines, ...notices, next], problems: [] };
  }),
  remove: reporting(async (options) => {
    const done = remove(options);
    return { data: done, lines: done.map(({ file, did }) => `${did} ${file}`), problems: [] };
  }),
  doctor: reporting(async (options) => {
    const { states, notes, problems } = await examine(options);
    const lines = states.map(
      ({ agent, point, state }) => `${agent.padEnd(9)}${point.padEnd(22)}${state}`,
    );
    return { data: states, lines: [...lines, ...notes], problems };
  }),
};

function reporting(work: (options: InitOptions) => Promise<Report>) {
  return async (options: InitOptions): Promise<Report> => {
    try {
      return await work(options);
    } catch (thrown) {
      if (!(thrown instanceof GuardError)) throw thrown;
      return { data: [], lines: [], problems: [thrown.message] };
    }
  };
}
