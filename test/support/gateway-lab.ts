import {
  createDeviceIdentity,
  OpenClawClient,
  type OpenClawClientOptions,
} from '../../src/openclaw/gateway/index.js';
import {
  type CollectingLogger,
  collectingLogger,
  type VirtualClock,
  virtualClock,
} from '../../src/testing/index.js';
import { GatewayServer, type GatewayServerOptions, until } from './gateway-server.js';

/** A gateway on loopback and a client of it, whose time a test turns by hand. */
export interface GatewayLab extends AsyncDisposable {
  readonly server: GatewayServer;
  readonly client: OpenClawClient;
  readonly clock: VirtualClock;
  readonly log: CollectingLogger;
}

export const labToken = 'lab-token-9f2c';

export interface GatewayLabOptions {
  readonly server?: GatewayServerOptions;
  readonly client?: Partial<OpenClawClientOptions>;
  /** Leaves the client idle. */
  readonly idle?: true;
}

/** Starts both, and waits until they are connected. */
export async function gatewayLab(options: GatewayLabOptions = {}): Promise<GatewayLab> {
  const server = await GatewayServer.start({ token: labToken, ...options.server });
  const clock = virtualClock();
  const log = collectingLogger();
  const client = new OpenClawClient({
    url: server.url,
    token: labToken,
    device: createDeviceIdentity(),
    clock,
    random: () => 0,
    logger: log,
    ...options.client,
  });
  if (options.idle !== true) {
    client.start();
    await until(() => client.state === 'connected');
  }
  return {
    server,
    client,
    clock,
    log,
    [Symbol.asyncDispose]: async () => {
      await client.stop();
      await server.down();
    },
  };
}
