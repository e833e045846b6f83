import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from 'sluice';
import { collectingLogger } from 'sluice/testing';
import { acpAgent, type ProgramSettings } from '../src/index.js';

const script = fileURLToPath(new URL('scripted-agent.mjs', import.meta.url));

/** The command of the agent that does what the last line of its prompt says. */
export const command = `${process.execPath} "${script}"`;

/** An agent of the scripted program, with a folder of its own for what the program keeps. */
export function acpLab(
  settings: Partial<ProgramSettings> & { readonly clock?: Clock } = {},
  folder = mkdtempSync(join(tmpdir(), 'sluice-acp-')),
) {
  const { clock = systemClock, env, ...rest } = settings;
  const log = collectingLogger();
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      return '';
    }
  };
  const kept = { SESSIONS: join(folder, 'sessions.json'), RUNS: join(folder, 'runs.txt') };
  const given = { cwd: folder, lateMs: 0, ...rest, env: { ...kept, ...env } };
  const agent = acpAgent(command, given, { log, clock });
  return {
    ...{ agent, log, folder, provider: agent.provider },
    /** The lines that the program has written of its tool, in order. */
    ran: (): readonly string[] => read(kept.RUNS).split('\n'),
    /** Lets the program say what it is late with. */
    letSpeak: () => writeFileSync(`${kept.RUNS}.go`, ''),
    /** The prompts that the program has heard, of all sessions. */
    heard: (): readonly string[] =>
      Object.values<string[]>(JSON.parse(read(kept.SESSIONS) || '{}')).flat(),
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
