import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../../support/compiled.js';
import { installNode22, installOpenClaw } from '../../../support/openclaw-install.js';
import { installPlugin } from '../../installed-plugins/install.js';
import type { Fault } from './faults.js';
import { providers } from './providers.js';

/** The moment from which a member fails: before the plugin is loaded, before a message comes, before one is sent. */
export const phases = ['start', 'message', 'send'] as const;

/** A case: nothing fails without a fault. */
export interface SweepCase {
  readonly channel: string;
  readonly phase: (typeof phases)[number];
  readonly fault?: Fault;
}

/**
 * The end of a message: also one that waits in the queue of its channel and is tried again, whose account is named, and one that could
 * not be brought, because its account does not run and is named (`degraded`). Two may not be: `lost` behind an account that looks
 * healthy, and `acknowledged`, if the provider believes that it was taken.
 */
export type Verdict =
  | 'answered'
  | 'dead letter'
  | 'waits'
  | 'degraded'
  | 'does not start'
  | 'refused'
  | 'refused and named'
  | 'acknowledged'
  | 'lost';

/** The end of a case. */
export interface SweepSays extends SweepCase {
  readonly verdict: Verdict;
  /** The members that were called in its phase. */
  readonly called: readonly string[];
  /** The log, if the message is lost or nothing fails. */
  readonly log?: readonly string[];
}

/** The things that the process of a sweep is told. */
export interface SweepAsk {
  /** The folders of the plugins, by their channels. */
  readonly plugins: Readonly<Record<string, string>>;
  readonly openclaw: string;
  readonly folder: string;
}

/** A process, by Node 22, that takes channels through cases. */
export interface Sweep extends AsyncDisposable {
  run(one: SweepCase): Promise<SweepSays>;
  /** The members of the api, as the real one has them. */
  members(): Promise<readonly string[]>;
}

/** Starts the process. @param channels of `providers`. */
export async function startSweep(channels: readonly string[]): Promise<Sweep> {
  const plugins: Record<string, string> = {};
  for (const channel of channels) {
    const { spec } = providers[channel] ?? {};
    if (spec === undefined) throw new Error(`nobody knows ${channel}`);
    const plugin = { id: `openclaw-${channel}`, spec, release: '2026.9.6' } as const;
    plugins[channel] = (await installPlugin(plugin)).path;
  }
  const openclaw = await installOpenClaw('2026.9.6');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-sweep-'));
  const program = await compiled(fileURLToPath(new URL('./sweep-program.ts', import.meta.url)));
  const ask: SweepAsk = { plugins, openclaw, folder };
  const child = fork(program, [JSON.stringify(ask)], {
    ...{
      execPath: await installNode22(),
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, OPENCLAW_STATE_DIR: join(folder, 'oc') },
  });
  return {
    run: (one) => asked<SweepSays>(child, one),
    members: () => asked<readonly string[]>(child, 'members'),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asks the process something. Its next answer that is no stray rejection is the answer. */
function asked<Answer>(child: ChildProcess, what: SweepCase | 'members'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error(`its process ended in ${JSON.stringify(what)}`));
    const hear = (said: Answer | { readonly stray: string }): void => {
      if (typeof said === 'object' && said !== null && 'stray' in said) return;
      child.off('message', hear);
      child.off('exit', ended);
      resolve(said as Answer); // the other kind is gone
    };
    child.on('message', hear);
    child.once('exit', ended);
    child.send(what);
  });
}
