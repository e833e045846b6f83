import type { MakeAgent } from '@sluice/cli';
import { fileError, recordingPath } from '@sluice/cli/internal';
import { readRecording, replayProvider } from '../../agent/replay.js';

/** Makes the agent that answers with a recorded stream. */
export const makeAgent: MakeAgent = async ([named], { onMalformed }) => {
  const file = recordingPath(named?.rest ?? '', named?.folder ?? '');
  try {
    return replayProvider(await readRecording(file, (line) => onMalformed(file, line)));
  } catch (thrown) {
    throw fileError(thrown, file, 'Check the path after replay: in the agent.');
  }
};
