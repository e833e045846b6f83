import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import process from 'node:process';
import { asUser, folderOfUser } from '../support/other-user.js';
import { root } from '../support/source-tree.js';

/** How a command ended, and all that it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A person who has just got the clone. */
export interface Newcomer extends Disposable {
  readonly clone: string;
  /** Makes an empty folder beside the clone, which is not empty for long. */
  emptyFolder(name: string): string;
  /** Runs a line of a page. What it asks for is "hello", and then its input ends. */
  run(line: string, cwd: string): Promise<Ended>;
}

/** Folders that no clone has. */
const made = /(?:^|\/)(?:node_modules|dist|coverage|packed|\.cache|\.git|docs\/site\/pages)$/;

/**
 * Makes a copy of the source, as a clone has it, in a folder with a space in its name and of mode 700.
 *
 * @param isStranger it is an ordinary user without a home and with empty caches, also if root runs the tests.
 */
export function newcomer({ isStranger }: { readonly isStranger: boolean }): Newcomer {
  const folder = folderOfUser('sluice-newcomer-');
  const inside = join(folder, 'x y');
  const clone = join(inside, 'sluice');
  cpSync(root, clone, {
    recursive: true,
    filter: (path) => !made.test(relative(root, path).split(sep).join('/')),
  });
  const user = isStranger ? asUser : undefined;
  if (user !== undefined) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
  chmodSync(inside, 0o700);
  const env = isStranger ? strangersEnv(inside) : ownEnv();
  return {
    clone,
    emptyFolder(name) {
      const made = join(inside, name);
      mkdirSync(made);
      if (user !== undefined) chownSync(made, user.uid, user.gid);
      return made;
    },
    async run(line, cwd) {
      const child = spawn('sh', ['-c', line], { ...user, cwd, env, stdio: 'pipe' });
      child.stdin.on('error', () => undefined); // it may end before it has read
      child.stdin.end('hello\n');
      return ended(child);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function ended(child: ReturnType<typeof spawn>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** The environment of the person who runs the tests, without what npm and the tests have put into it. */
function ownEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_(?!config_(?:cache|registry)$)|VITEST|NODE_ENV$|TEST$|DEV$|PROD$|MODE$|SSR$|BASE_URL$)/i.test(
        name,
      ),
  );
  return { ...Object.fromEntries(own), NO_COLOR: '1', PATH: pathOf() };
}

/** Nothing but what npm needs: no `HOME`, and caches that are empty. */
function strangersEnv(folder: string): NodeJS.ProcessEnv {
  const ofNetwork = Object.entries(process.env).filter(([name]) =>
    /^(?:(?:https?|no)_proxy|NODE_EXTRA_CA_CERTS|npm_config_registry)$/i.test(name),
  );
  const caches = { npm_config_cache: join(folder, 'npm'), XDG_CACHE_HOME: join(folder, 'cache') };
  return { ...Object.fromEntries(ofNetwork), ...caches, NO_COLOR: '1', PATH: pathOf() };
}

/** The programs of the machine: `npm run` puts those of its project before them. */
function pathOf(): string {
  const parts = (process.env['PATH'] ?? '').split(':');
  return parts.filter((part) => !part.includes('node_modules')).join(':');
}
