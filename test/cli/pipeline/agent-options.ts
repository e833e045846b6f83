import { silentLogger } from '../../../src/kernel/internal.js';
import { Scope } from '../../../src/sdk/extension/index.js';

/** The parts of a command that agents are made with, in a folder. */
export function agentOptions(cwd: string) {
  return {
    ...{ cwd, version: '0.0.0', stop: new AbortController().signal, additions: [], plugins: [] },
    ...{ logger: silentLogger, scope: new Scope('agents'), onMalformed: () => undefined },
  };
}
