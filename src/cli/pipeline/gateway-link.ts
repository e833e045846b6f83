import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { loadDeviceIdentity, OpenClawClient } from '../../gateway/index.js';
import { definedFields, type Logger } from '../../kernel/index.js';
import type { GatewaySetting } from '../settings/gateway-setting.js';

/** The parts of a command that a connection to a gateway is made with. */
export interface GatewayLinkOptions {
  readonly logger: Logger;
  /** The version that the gateway is told. */
  readonly version: string;
  /** Ends the wait when it aborts. */
  readonly stop: AbortSignal;
  /** Milliseconds that the gateway has to let the command in, by default 10,000. */
  readonly timeoutMs?: number;
}

/** The one connection of a command to an OpenClaw gateway. */
export interface GatewayLink extends AsyncDisposable {
  /**
   * Returns the client, connected. A gateway that cannot be reached when the command starts is an error; after that the
   * client connects again by itself.
   *
   * @throws SluiceError `bad-client-option`, `bad-device-key` or `gateway-unreachable`.
   */
  client(): Promise<OpenClawClient>;
}

/** Makes the link of a command: it connects when the first agent needs it. */
export function gatewayLink(
  { url, token, password, device }: GatewaySetting,
  { logger, version, stop, timeoutMs = 10_000 }: GatewayLinkOptions,
): GatewayLink {
  let client: OpenClawClient | undefined;
  return {
    client: async () => {
      if (client !== undefined) return client;
      await mkdir(dirname(device), { recursive: true, mode: 0o700 });
      client = new OpenClawClient({
        ...{ url, displayName: 'Sluice', version, logger },
        ...definedFields({ token, password }),
        device: await loadDeviceIdentity(device),
      });
      client.start();
      await client.ready({ timeoutMs, signal: stop });
      return client;
    },
    [Symbol.asyncDispose]: async () => client?.stop(),
  };
}
