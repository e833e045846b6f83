import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../../support/compiled.js';
import { installNode22 } from '../../../support/openclaw-install.js';
import { type CorpusPlugin, corpus } from '../../installed-plugins/corpus.js';
import { installPlugin } from '../../installed-plugins/install.js';

/** The things that a host is told. */
export interface LaterHostOptions {
  /** The folder of the plugin. */
  readonly plugin: string;
  readonly openclaw: string;
  /** Its journal and the state of the plugin lie there. */
  readonly folder: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Its agent says what it heard, or begins each turn and never ends it. */
  readonly how?: 'answers' | 'hangs';
}

/** The things that a host tells. */
export type LaterHostSays =
  | { readonly kind: 'runs'; readonly url: string }
  | { readonly kind: 'begun' }
  | { readonly kind: 'log'; readonly line: string }
  | {
      readonly kind: 'end';
      readonly status: string;
      readonly reason?: string | undefined;
      readonly texts: readonly string[];
    }
  | { readonly kind: 'sent'; readonly status: string }
  | { readonly kind: 'stopped'; readonly unsupported: readonly string[] };

type Said<Kind extends LaterHostSays['kind']> = Extract<LaterHostSays, { readonly kind: Kind }>;

/** A host in a process of its own, by Node 22, that runs an unmodified plugin for OpenClaw 2026.9. */
export interface LaterHost {
  /** Waits until it has told something that fits: that was said already, or that comes. */
  heard<Kind extends LaterHostSays['kind']>(
    kind: Kind,
    fits?: (said: Said<Kind>) => boolean,
  ): Promise<Said<Kind>>;
  /** All that it has told. */
  readonly said: readonly LaterHostSays[];
  ask(message: object | 'stop'): void;
  kill(): Promise<void>;
}

/** A folder that hosts of one plugin use one after the other. */
export interface LaterLab extends AsyncDisposable {
  begin(how?: LaterHostOptions['how']): Promise<LaterHost>;
}

/** Prepares hosts of a plugin: one of the corpus, by its id, or a package of `@openclaw` with its version. */
export async function laterLab(
  id: string,
  config: Readonly<Record<string, unknown>>,
): Promise<LaterLab> {
  const [, name] = /^@openclaw\/([\w-]+)@/.exec(id) ?? [];
  const known: CorpusPlugin | undefined =
    name === undefined
      ? corpus.find((plugin) => plugin.id === id)
      : { id: `openclaw-${name}`, spec: id, release: '2026.9.6' };
  if (known === undefined) throw new Error(`the corpus has no ${id}`);
  const { path: plugin, openclaw } = await installPlugin(known);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-later-'));
  const program = await compiled(fileURLToPath(new URL('./later-host.ts', import.meta.url)));
  const node22 = await installNode22();
  const running = new Set<ChildProcess>();
  return {
    begin: async (how = 'answers') => {
      const options: LaterHostOptions = { plugin, openclaw, folder, config, how };
      const child = fork(program, [JSON.stringify(options)], {
        ...{ execPath: node22, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          OPENCLAW_STATE_DIR: join(folder, 'oc'),
        },
      });
      running.add(child);
      return hostOf(child);
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of running) await kill(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function hostOf(child: ChildProcess): LaterHost {
  const said: LaterHostSays[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const look = (): void => {
    for (const check of waiting) check();
  };
  child.on('message', (one: LaterHostSays) => {
    said.push(one);
    look();
  });
  child.once('exit', () => {
    isOver = true;
    look();
  });
  return {
    said,
    heard: (kind, fits = () => true) =>
      new Promise((resolve, reject) => {
        type Wanted = Said<typeof kind>;
        const isWanted = (one: LaterHostSays): one is Wanted =>
          one.kind === kind && fits(one as Wanted); // its kind says so
        const check = (): void => {
          const found = said.find(isWanted);
          if (found === undefined && !isOver) return;
          waiting.delete(check);
          const log = said.flatMap((one) => (one.kind === 'log' ? [one.line] : []));
          if (found !== undefined) resolve(found);
          else reject(new Error(`the host ended before "${kind}":\n${log.join('\n')}`));
        };
        waiting.add(check);
        check();
      }),
    ask: (message) => void child.send(message),
    kill: () => kill(child),
  };
}
