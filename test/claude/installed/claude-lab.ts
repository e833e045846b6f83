import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, inject } from 'vitest';
import {
  type AgentTurnOptions,
  type AgentTurnResult,
  runAgentTurn,
} from '../../../src/agent/index.js';
import {
  type ClaudeProviderOptions,
  type ClaudeQuery,
  type ClaudeRun,
  claudeProvider,
  loadClaudeSdk,
} from '../../../src/claude/agent/index.js';
import type { CsdkFrame } from '../../../src/claude/index.js';
import type {
  AgentProvider,
  SessionEvent,
  TranscriptEntry,
} from '../../../src/sdk/stream/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { MessagesApi, type Script } from '../../support/messages-api/messages-api.js';

/** Where the SDK is; empty where this machine could not install it. */
export const sdkFolder = inject('sdkFolder');

/** A suite that needs the SDK. */
export const describeClaude = describe.skipIf(sdkFolder === '');

/** A turn that has ended, and what was seen of it. */
export interface ClaudeTurn {
  readonly result: AgentTurnResult;
  readonly events: readonly SessionEvent[];
  readonly frames: readonly CsdkFrame[];
}

type LabOptions = Omit<ClaudeProviderOptions, 'query' | 'cwd' | 'env'> & {
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * The real SDK against a scripted Messages API: a home and a working folder of its own, an environment that holds
 * nothing else of this process, a kernel, and one session.
 */
export class ClaudeLab implements AsyncDisposable {
  readonly test = createTestKernel();
  readonly written: TranscriptEntry[] = [];
  readonly api: MessagesApi;
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly provider: AgentProvider;
  #frames: CsdkFrame[] = [];

  private constructor(api: MessagesApi, home: string, query: ClaudeQuery, options: LabOptions) {
    this.api = api;
    this.home = home;
    this.cwd = join(home, 'project');
    this.env = { ...claudeEnvironment(home, api.url), ...options.env };
    this.provider = claudeProvider({
      ...options,
      query: (given) => this.#watched(query(given)),
      cwd: this.cwd,
      env: this.env,
    });
  }

  static async start(script: Script, options: LabOptions = {}): Promise<ClaudeLab> {
    const query = await loadClaudeSdk(sdkFolder);
    const home = await mkdtemp(join(tmpdir(), 'sluice-claude-'));
    await mkdir(join(home, 'project'));
    await mkdir(join(home, 'tmp'));
    return new ClaudeLab(await MessagesApi.start(script), home, query, options);
  }

  /** Runs one turn of the session to its end. */
  async turn(text: string, given: Partial<AgentTurnOptions> = {}): Promise<ClaudeTurn> {
    this.#frames = [];
    const events: SessionEvent[] = [];
    const result = await runAgentTurn({
      kernel: this.test.kernel,
      provider: this.provider,
      message: { text },
      runId: `run-${this.written.length}`,
      logger: this.test.log,
      ...given,
      session: {
        agentId: 'main',
        sessionKey: 'console:local',
        sessionId: 'session-1',
        history: [...this.written],
        append: (entry) => void this.written.push(entry),
        ...given.session,
      },
      callbacks: {
        onEvent: async (event) => {
          events.push(event);
          await given.callbacks?.onEvent?.(event);
        },
      },
    });
    return { result, events, frames: this.#frames };
  }

  /** The frames of the turn so far. */
  get frames(): readonly CsdkFrame[] {
    return this.#frames;
  }

  /** Resolves when no process is left that was given this home; rejects after some seconds. */
  async untilNothingRuns(): Promise<void> {
    await untilNothingRunsIn(this.home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.untilNothingRuns();
    await this.api[Symbol.asyncDispose]();
    await rm(this.home, { recursive: true, force: true });
  }

  /** The same run, whose frames are kept as they are read. */
  #watched(run: ClaudeRun): ClaudeRun {
    const frames = this.#frames;
    async function* watched(): AsyncGenerator<CsdkFrame, void> {
      for await (const frame of run) {
        frames.push(frame);
        yield frame;
      }
    }
    return Object.assign(watched(), {
      close: () => run.close(),
      ...(run.interrupt !== undefined && { interrupt: () => run.interrupt?.() ?? nothing }),
    });
  }
}

const nothing = Promise.resolve();

/** A listener that acts once, when so many pieces of text have come. */
export function afterDeltas(count: number, act: () => void): (event: SessionEvent) => void {
  let deltas = 0;
  return (event) => {
    if (event.type !== 'message_update') return;
    if (event.assistantMessageEvent.type === 'text_delta' && ++deltas === count) act();
  };
}

/** Waits for a condition: the SDK is a process, whose next step has no other sign. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 600) throw new Error('it never came to this');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The whole environment of a process of Claude's: nothing of this process's own but where programs are. */
export function claudeEnvironment(home: string, apiUrl: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    ANTHROPIC_BASE_URL: apiUrl,
    ANTHROPIC_API_KEY: 'no-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
}

/** Waits until every process with this home has ended: a child of the SDK may end a moment after its host. */
export async function untilNothingRunsIn(home: string): Promise<void> {
  for (let tries = 0; processesOf(home).length > 0; tries++) {
    if (tries === 1_200) throw new Error(`still running: ${processesOf(home).join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 50)); // a process gives no other sign of its end
  }
}

/** The processes whose environment names a home, where the system shows them (Linux). */
export function processesOf(home: string): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(home);
    } catch {
      return false; // it has ended, or is somebody else's
    }
  });
}
