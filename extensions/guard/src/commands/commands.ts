import { GuardError } from '../install/settings-text.js';
import { examine } from './doctor.js';
import { type InitOptions, init, remove, type Site } from './install.js';

/** The report of a command: data, lines for people, and problems, of which there are none if all is well. */
export interface Report {
  readonly data: readonly object[];
  readonly lines: readonly string[];
  readonly problems: readonly string[];
}

/** The options of the command line, beside the place of the command. */
interface Given extends Omit<Site, 'scope'> {
  readonly user?: boolean;
  readonly agent?: readonly string[];
  readonly open?: boolean;
  readonly dryRun?: boolean;
}

/** The work of `sluice guard init`, `remove` and `doctor`. */
export const commands = {
  init: reporting(async (options) => {
    const done = await init(options);
    const { todos } = await examine(options);
    const config = options.scope === 'user' ? ' --config ~/.sluice/guard.config.json' : '';
    const wrote = options.isDryRun ? 'would write' : 'wrote';
    const lines = done.map(({ file, did }) => `${did === 'wrote' ? wrote : did} ${file}`);
    const next = `Next: run \`sluice guard run${config}\`, and ask an agent to run "rm -rf ./old".`;
    return { data: done, lines: [...lines, ...todos, next], problems: [] };
  }),
  remove: reporting(async (options) => {
    const done = remove(options);
    return { data: done, lines: done.map(({ file, did }) => `${did} ${file}`), problems: [] };
  }),
  doctor: reporting(async (options) => {
    const { states, todos, notes, problems } = await examine(options);
    const lines = states.map(
      ({ agent, point, state }) => `${agent.padEnd(9)}${point.padEnd(22)}${state}`,
    );
    return { data: states, lines: [...lines, ...todos, ...notes], problems };
  }),
};

function reporting(work: (options: InitOptions) => Promise<Report>) {
  return async (given: Given): Promise<Report> => {
    const {
      user,
      agent: agents = [],
      open: isOpen = false,
      dryRun: isDryRun = false,
      ...at
    } = given;
    try {
      const { lines, ...report } = await work({
        ...{ ...at, agents, isOpen, isDryRun, scope: user ? 'user' : 'project' },
      });
      return { ...report, lines: lines.map((line) => line.replaceAll(/\p{Cc}/gu, '?')) };
    } catch (thrown) {
      if (!(thrown instanceof GuardError)) throw thrown;
      return { data: [], lines: [], problems: [thrown.message] };
    }
  };
}
