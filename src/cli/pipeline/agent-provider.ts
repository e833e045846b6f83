import {
  claudeProvider,
  echoProvider,
  loadClaudeSdk,
  readRecording,
  replayProvider,
} from '../../agent/index.js';
import { OpenClawAgentProvider, type OpenClawClient } from '../../gateway/index.js';
import { isSluiceError, type Logger } from '../../kernel/index.js';
import type { AgentProvider } from '../../stream/index.js';
import { CommandError } from '../errors/command-error.js';
import { fileError } from '../errors/file-error.js';
import type { BuiltInAgent } from '../settings/agent-choice.js';
import { lineError } from '../settings/recording-file.js';

/** The parts of a command that agents are made with. */
export interface AgentProviderOptions {
  /** The folder that the agent's tools work in. */
  readonly cwd: string;
  readonly logger: Logger;
  /** Is told of each line of a recording that holds no message; the other lines are used. */
  readonly onMalformed: (error: CommandError) => void;
  /** The gateway behind which the agents `openclaw` are, connected. */
  readonly gateway: () => Promise<OpenClawClient>;
}

/**
 * Makes the agent that was chosen.
 *
 * @throws CommandError `missing-file`, `unreadable-file` or `missing-package`; what the gateway's client throws.
 */
export async function agentProvider(
  choice: BuiltInAgent,
  { cwd, logger, onMalformed, gateway }: AgentProviderOptions,
): Promise<AgentProvider> {
  switch (choice.kind) {
    case 'echo':
      return echoProvider();
    case 'replay':
      return recorded(choice.file, onMalformed);
    case 'claude': {
      const { models } = choice;
      const offered = models.length === 0 ? {} : { models };
      return claudeProvider({ query: await claudeQuery(cwd), cwd, logger, ...offered });
    }
    case 'openclaw': {
      const { agentId } = choice;
      return new OpenClawAgentProvider({ client: await gateway(), agentId, logger });
    }
  }
}

async function recorded(
  file: string,
  onMalformed: AgentProviderOptions['onMalformed'],
): Promise<AgentProvider> {
  try {
    return replayProvider(await readRecording(file, (line) => onMalformed(lineError(file, line))));
  } catch (thrown) {
    throw fileError(thrown, file, 'Check the path after replay: in the agent.');
  }
}

async function claudeQuery(cwd: string): ReturnType<typeof loadClaudeSdk> {
  try {
    return await loadClaudeSdk(cwd);
  } catch (cause) {
    if (!isSluiceError(cause)) throw cause;
    throw new CommandError('missing-package', cause.message, cause.hint, { cause });
  }
}
