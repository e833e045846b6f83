import { readdirSync, readFileSync } from 'node:fs';
import { isThenable, nanoseconds, warm } from './timing.mjs';

const folder = new URL('../fixtures/claude-stream/', import.meta.url);

/** The lines of the recordings in the repository, and the runs in them. */
function recorded(splitRuns) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const lines = files.toSorted().flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  );
  return { lines, runs: splitRuns(lines.map((line) => JSON.parse(line))) };
}

/** What is measured over the same frames: each takes them all, and returns how much came of it. */
export const frameJobs = {
  parse: ({ lines }) => {
    let objects = 0;
    for (const line of lines) if (JSON.parse(line) !== null) objects++;
    return objects;
  },
  normalizeSession: ({ runs }, { normalizeSession }) => eventsOf(runs, normalizeSession),
  coderStream: ({ runs }, { coderStream }) => eventsOf(runs, coderStream),
  bridgeCsdk: ({ runs }, { bridgeCsdk, createKernel }) => {
    const kernel = createKernel();
    const session = { agentId: 'main', sessionKey: 'agent:main', sessionId: 's-1' };
    let number = 0;
    return eventsOf(runs, (run) => {
      const options = { session, runId: `r-${++number}`, gate: 'observe-only' };
      return bridgeCsdk(kernel, options).run(run);
    });
  },
};

async function eventsOf(runs, stream) {
  let events = 0;
  for (const run of runs) for await (const _ of stream(run)) events++;
  return events;
}

/** One pass over the frames: how many there are, and how much it makes of them. */
export async function workOfFrames(id, csdk) {
  const frames = recorded(csdk.splitRuns);
  return { made: await frameJobs[id](frames, csdk), frames: frames.lines.length };
}

/** Nanoseconds a frame, and the work of one pass. */
export async function frameFigures(task, csdk) {
  const frames = recorded(csdk.splitRuns);
  const sink = { value: undefined };
  const run = () => {
    const made = frameJobs[task.id](frames, csdk);
    return isThenable(made) ? made : void (sink.value = made);
  };
  await warm(run, 4 * task.warmMs);
  const ns = await nanoseconds(run, { rounds: task.rounds, ms: 4 * task.ms });
  return { ns: ns / frames.lines.length, ...(await workOfFrames(task.id, csdk)) };
}
