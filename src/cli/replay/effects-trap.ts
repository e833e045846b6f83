import { AsyncLocalStorage } from 'node:async_hooks';
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import process from 'node:process';
import workerThreads from 'node:worker_threads';

/** A trap that is set: each way out of the process fails. To dispose it opens them again. */
export interface EffectsTrap extends Disposable {
  /** The effects that were tried, each once: `network: connect`. */
  readonly attempts: ReadonlySet<string>;
  /** Runs something of the command's own, to which the ways out are open: the journal may be in a database. */
  outside<T>(run: () => T): T;
}

type Methods = Record<string, unknown>;

const fileWrites =
  /^(write|append|mk|rm|unlink|rename|copy|cp|truncate|ftruncate|symlink|link|chmod|fchmod|lchmod|chown|fchown|lchown|utimes|futimes|lutimes|createWrite)/;

const lookups = /^(lookup|resolve|reverse)/;

type WayOut = readonly [what: string, on: object, names: RegExp];

/** The functions by which something leaves the process: the kind of effect, the module or prototype, the names. */
const waysOut: readonly WayOut[] = [
  ['network', net.Socket.prototype, /^connect$/],
  ['network', net.Server.prototype, /^listen$/],
  ['network', dgram.Socket.prototype, /^(bind|connect|send)$/],
  ['network', dns, lookups],
  ['network', dns.promises, lookups],
  ['network', dns.Resolver.prototype, lookups],
  ['network', dns.promises.Resolver.prototype, lookups],
  ['other processes', childProcess, /^(spawn|exec|execFile)(Sync)?$|^fork$/],
  ['other processes', childProcess.ChildProcess.prototype, /^spawn$/],
  ['other processes', process, /^(_?kill|execve)$/],
  ['other threads', workerThreads, /^Worker$/],
  ['file writes', fs, fileWrites],
  ['file writes', fs.promises, fileWrites],
];

/**
 * Makes every way out of the process fail: sockets, name lookups, other processes, threads, and writing files. Reading files goes
 * on. It is for handlers that know nothing of a dry run; it is no sandbox: native code gets around it, and so does
 * whoever wants to (spec §20.7).
 */
export function trapEffects(more: readonly WayOut[] = []): EffectsTrap {
  const attempts = new Set<string>();
  const undo: (() => void)[] = [];
  const own = new AsyncLocalStorage<true>();
  const put = (on: object, name: string, value: unknown): void => {
    const methods = on as Methods; // a module or a prototype, by the names of its methods
    const before = methods[name];
    methods[name] = value;
    undo.push(() => {
      methods[name] = before;
    });
  };
  const refuse = (what: string, name: string): never => {
    attempts.add(`${what}: ${name}`);
    throw Object.assign(new Error(`a dry run has no ${what} (${name})`), { code: 'EDRYRUN' });
  };
  for (const [what, on, names] of [...waysOut, ...more])
    for (const name of Object.getOwnPropertyNames(on)) {
      if (!names.test(name)) continue; // others may be getters
      const before = (on as Methods)[name];
      if (typeof before !== 'function') continue;
      put(on, name, function trapped(this: unknown, ...args: unknown[]): unknown {
        if (own.getStore() === undefined) refuse(what, name); // a function, because some are called with `new`
        return Reflect.apply(before, this, args);
      });
    }
  for (const on of [fs, fs.promises])
    for (const name of ['open', 'openSync']) {
      const before = (on as Methods)[name];
      if (typeof before !== 'function') continue;
      put(on, name, function guarded(this: unknown, ...args: unknown[]): unknown {
        const [, flags = 'r'] = args;
        const isRead = flags === 'r' || flags === fs.constants.O_RDONLY;
        if (!isRead && typeof flags !== 'function') refuse('file writes', name);
        return Reflect.apply(before, this, args);
      });
    }
  syncBuiltinESMExports(); // also for those who import { connect } from 'node:net'
  return {
    attempts,
    outside: (run) => own.run(true, run),
    [Symbol.dispose]: () => {
      for (const one of undo.toReversed()) one();
      syncBuiltinESMExports();
    },
  };
}
