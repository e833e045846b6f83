// Stands before the code of a plugin, and of each program of Node that it starts: nothing leaves this machine, and
// nothing listens to others.
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';
import process from 'node:process';

const isLoopback = (host) =>
  host === undefined || host === '' || /^(localhost|127\.|::1$|\[::1\]$|::ffff:127\.)/.test(host);

function refusal(syscall, host) {
  const error = new Error(`${syscall} ENETUNREACH ${host}: the trial has no network`);
  return Object.assign(error, { code: 'ENETUNREACH', syscall });
}

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args; // Node's own calls hand over a list
  const host = typeof first === 'object' && first !== null ? first.host : second;
  const isPath = typeof first === 'string' && !/^\d+$/.test(first);
  if (isPath || first?.path !== undefined || typeof host !== 'string' || isLoopback(host))
    return connect.apply(this, args);
  process.nextTick(() => this.destroy(refusal('connect', host)));
  return this;
};

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  const [first, second, ...others] = args;
  if (typeof first === 'object' && first !== null && first.port !== undefined)
    return listen.call(this, { ...first, host: '127.0.0.1' }, second, ...others);
  if (typeof first === 'number' || /^\d+$/.test(String(first)))
    return typeof second === 'string'
      ? listen.call(this, first, '127.0.0.1', ...others)
      : listen.call(
          this,
          first,
          '127.0.0.1',
          ...[second, ...others].filter((one) => one !== undefined),
        );
  return listen.apply(this, args);
};

for (const owner of [dns, dns.promises]) {
  for (const name of Object.keys(owner).filter((key) => /^(lookup|resolve|reverse)/.test(key))) {
    const real = owner[name];
    if (typeof real !== 'function' || name === 'lookupService') continue;
    owner[name] = function (host, ...rest) {
      if (isLoopback(host)) return real.call(this, host, ...rest);
      const error = Object.assign(refusal(name, host), { code: 'ENOTFOUND' });
      const callback = rest.findLast((one) => typeof one === 'function');
      if (callback === undefined) return Promise.reject(error);
      process.nextTick(callback, error);
      return undefined;
    };
  }
}

// the stand-in answers for the hosts that the trial names
const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  const { host, pathname, search } = new URL(input instanceof Request ? input.url : input);
  const { TRIAL_SERVER: server, TRIAL_OUTSIDE: outside = '' } = process.env;
  if (!outside.split(' ').includes(host)) return fetch(input, init);
  const url = `http://${server}/${host}${pathname}${search}`;
  return fetch(input instanceof Request ? new Request(url, input) : url, init);
};

const { send } = dgram.Socket.prototype;
dgram.Socket.prototype.send = function (...args) {
  const host = args.find((one, at) => at > 0 && typeof one === 'string');
  if (isLoopback(host)) return send.apply(this, args);
  const callback = args.findLast((one) => typeof one === 'function');
  process.nextTick(() => callback?.(refusal('send', host)));
  return undefined;
};
