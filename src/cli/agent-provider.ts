import { echoProvider, readRecording, replayProvider } from '../agent/index.js';
import type { AgentProvider } from '../stream/index.js';
import type { AgentChoice } from './agent-choice.js';
import type { CommandError } from './command-error.js';
import { fileError } from './file-error.js';
import { lineError } from './recording-file.js';

/**
 * Makes the agent that was chosen.
 *
 * @param onMalformed is told each line of a recording that holds no message; the rest is used.
 * @throws CommandError `missing-file` or `unreadable-file`.
 */
export async function agentProvider(
  choice: AgentChoice,
  onMalformed: (error: CommandError) => void,
): Promise<AgentProvider> {
  if (choice.kind === 'echo') return echoProvider();
  const { file } = choice;
  try {
    return replayProvider(await readRecording(file, (line) => onMalformed(lineError(file, line))));
  } catch (thrown) {
    throw fileError(thrown, file, 'Check the path after replay: in the agent.');
  }
}
