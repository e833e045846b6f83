import type { LegacyCliCommands, LegacyGatewayAnswer } from '../shape/shapes.js';
import type { Registering } from './registering.js';

type Fields = Readonly<Record<string, unknown>>;

/** `api.registerCli`: commands of a command line, which `sluice plugin run` makes and runs. */
export function registerCli(
  plugin: Registering,
  register: LegacyCliCommands['register'],
  options: { readonly commands?: readonly unknown[] } = {},
): void {
  if (typeof register !== 'function')
    return void plugin.tell('error', 'registerCli was given no function');
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
  const { tell, refusals, gatewayMethods } = plugin;
  const method = String(given).trim();
  const about = { kind: 'gateway method', name: method };
  if (method === '') return;
  if (typeof handler !== 'function')
    return void tell('error', `gateway method "${method}" has no function`, undefined, about);
  if (gatewayMethods.some((other) => other.method === method))
    return void tell('error', `gateway method "${method}" is registered already`, undefined, about);
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
