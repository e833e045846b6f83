import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import workerThreads from 'node:worker_threads';

/** While it is set, what would leave the process fails. Disposing it sets things right again. */
export interface EffectsTrap extends Disposable {
  /** What was tried, each once: `network: connect`. */
  readonly attempts: ReadonlySet<string>;
}

type Methods = Record<string, unknown>;

const fileWrites =
  /^(write|append|mk|rm|unlink|rename|copy|cp|truncate|ftruncate|symlink|link|chmod|fchmod|lchmod|chown|fchown|lchown|utimes|futimes|lutimes|createWrite)/;

/**
 * Makes every way out of the process fail: sockets, name lookups, other processes, threads, and writing files. Reading files goes
 * on. It is for handlers that know nothing of a dry run; it is no sandbox: native code gets around it, and so does
 * whoever wants to (spec §20.7).
 */
export function trapEffects(): EffectsTrap {
  const attempts = new Set<string>();
  const undo: (() => void)[] = [];
  const put = (on: object, name: string, value: unknown): void => {
    const methods = on as Methods; // a module or a prototype, by the names of its methods
    const before = methods[name];
    methods[name] = value;
    undo.push(() => {
      methods[name] = before;
    });
  };
  const stop = (what: string, on: object, names: readonly string[]): void => {
    for (const name of names)
      if (typeof (on as Methods)[name] === 'function')
        put(on, name, function trapped(): never {
          attempts.add(`${what}: ${name}`);
          throw Object.assign(new Error(`a dry run has no ${what} (${name})`), { code: 'EDRYRUN' });
        });
  };
  const writing = (on: object): string[] => Object.keys(on).filter((name) => fileWrites.test(name));
  stop('network', net.Socket.prototype, ['connect']);
  stop('network', net.Server.prototype, ['listen']);
  stop('network', dgram.Socket.prototype, ['bind', 'connect', 'send']);
  stop(
    'network',
    dns,
    Object.keys(dns).filter((name) => /^(lookup|resolve|reverse)/.test(name)),
  );
  stop(
    'network',
    dns.promises,
    Object.keys(dns.promises).filter((name) => /^(lookup|resolve|reverse)/.test(name)),
  );
  stop('other processes', childProcess, [
    'spawn',
    'spawnSync',
    'exec',
    'execSync',
    'execFile',
    'execFileSync',
    'fork',
  ]);
  stop('other threads', workerThreads, ['Worker']);
  stop('file writes', fs, writing(fs));
  stop('file writes', fs.promises, writing(fs.promises));
  for (const on of [fs, fs.promises]) guardOpen(on, put, attempts);
  syncBuiltinESMExports(); // also for those who import { connect } from 'node:net'
  return {
    attempts,
    [Symbol.dispose]: () => {
      for (const one of undo.toReversed()) one();
      syncBuiltinESMExports();
    },
  };
}

/** Opening a file to read it stays; to write it does not. */
function guardOpen(
  on: object,
  put: (on: object, name: string, value: unknown) => void,
  attempts: Set<string>,
): void {
  for (const name of ['open', 'openSync']) {
    const before = (on as Methods)[name];
    if (typeof before !== 'function') continue;
    put(on, name, function guarded(this: unknown, ...args: unknown[]): unknown {
      const [, flags = 'r'] = args;
      if (flags === 'r' || flags === fs.constants.O_RDONLY || typeof flags === 'function')
        return Reflect.apply(before, this, args);
      attempts.add(`file writes: ${name}`);
      throw Object.assign(new Error(`a dry run has no file writes (${name})`), { code: 'EDRYRUN' });
    });
  }
}
