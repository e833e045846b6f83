import type { Fields } from 'sluice-kernel/internal';
import { conflictOf } from '../http/plugin-routes.js';
import type { LegacyCliCommands, LegacyGatewayAnswer, LegacyHttpRoute } from '../shape/shapes.js';
import type { Registering } from './registering.js';

/** `api.registerCli`: commands of a command line, which `sluice plugin run` makes and runs. */
export function registerCli(
  plugin: Registering,
  register: LegacyCliCommands['register'],
  options: { readonly commands?: readonly unknown[] } = {},
): void {
  if (typeof register !== 'function')
    return void plugin.report('error', 'registerCli was given no function');
  const names = (options.commands ?? []).map((name) => String(name).trim());
  plugin.cliCommands.push({ names: names.filter((name) => name !== ''), register });
}

/** The request that a gateway hands to a method. */
interface GatewayRequest {
  readonly req: Fields;
  readonly params: Fields;
  readonly client: null;
  readonly isWebchatConnect: () => boolean;
  readonly respond: (ok: boolean, payload?: unknown, error?: unknown, meta?: unknown) => void;
  readonly context: unknown;
}

/** `api.registerGatewayMethod`: a method that `sluice plugin call` calls. A name stays with the first that has it. */
export function registerGatewayMethod(
  plugin: Registering,
  given: string,
  handler: (request: GatewayRequest) => unknown,
): void {
  const { report, refusals, gatewayMethods } = plugin;
  const method = String(given).trim();
  const about = { kind: 'gateway method', name: method };
  const leaveOut = (why: string): void =>
    report('error', `gateway method "${method}" ${why}`, undefined, about);
  if (method === '') return;
  if (typeof handler !== 'function') return void leaveOut('has no function');
  if (gatewayMethods.some((other) => other.method === method))
    return void leaveOut('is registered already');
  const call = (params: Fields): Promise<LegacyGatewayAnswer> =>
    new Promise((resolve, reject) => {
      const request: GatewayRequest = {
        req: { type: 'req', id: 'sluice', method, params },
        params,
        client: null,
        isWebchatConnect: () => false,
        respond: (ok, payload, error) => {
          const answer = { ok, ...(payload !== undefined && { payload }) };
          resolve(error === undefined ? answer : { ...answer, error });
        },
        context: refusals.part('registerGatewayMethod: context'),
      };
      refusals.ask();
      Promise.resolve()
        .then(() => handler(request))
        .catch(reject);
    });
  gatewayMethods.push({ method, call: async (params) => refusals.check(await call(params)) });
}

/** A route as plugins write it. */
interface RouteOptions extends Partial<LegacyHttpRoute> {
  readonly handler: LegacyHttpRoute['handler'];
  readonly replaceExisting?: boolean;
}

/** `api.registerHttpRoute`: a path of the host's HTTP port. A path that overlaps one of another `auth` is left out. */
export function registerHttpRoute(plugin: Registering, given: RouteOptions): void {
  const { httpRoutes } = plugin;
  const { auth, match = 'exact', handler, replaceExisting } = given;
  const written = String(given.path ?? '').trim();
  const path = written.startsWith('/') ? written : `/${written}`;
  const route = { path, match, auth, handler } as LegacyHttpRoute; // judged here
  const isReplaced = (one: LegacyHttpRoute): boolean =>
    replaceExisting === true && one.path === path && one.match === match && one.auth === auth;
  const problem = (): string | undefined => {
    if (written === '') return 'it has no path';
    if (typeof handler !== 'function') return 'it has no function "handler"';
    if (auth !== 'gateway' && auth !== 'plugin')
      return 'its auth is neither "gateway" nor "plugin"';
    const others = httpRoutes.filter((one) => !isReplaced(one));
    return conflictOf(route, others);
  };
  const why = problem();
  if (why !== undefined) return void httpRoutes.leftOut(path, why);
  const at = httpRoutes.findIndex(isReplaced);
  if (at === -1) httpRoutes.push(route);
  else httpRoutes[at] = route;
}

/** `api.registerHttpHandler`, of plugins that are older than this api: a handler of each request that no route answers. */
export function registerHttpHandler(
  { httpRoutes, report }: Registering,
  handler: LegacyHttpRoute['handler'],
): void {
  if (typeof handler !== 'function') return void report('error', 'an HTTP handler is no function');
  httpRoutes.push({ path: '/', match: 'any', auth: 'plugin', handler });
}
