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

/** The one connection of a command to an OpenClaw gateway: made when the first agent needs it. */
export class GatewayLink implements AsyncDisposable {
  readonly #setting: GatewaySetting;
  readonly #options: GatewayLinkOptions;
  #client: OpenClawClient | undefined;

  constructor(setting: GatewaySetting, options: GatewayLinkOptions) {
    this.#setting = setting;
    this.#options = options;
  }

  /**
   * Returns the client, connected. A gateway that cannot be reached when the command starts is an error; after that the
   * client connects again by itself.
   *
   * @throws SluiceError `bad-client-option`, `bad-device-key` or `gateway-unreachable`.
   */
  async client(): Promise<OpenClawClient> {
    if (this.#client !== undefined) return this.#client;
    const { url, token, password, device } = this.#setting;
    const { logger, version, stop, timeoutMs = 10_000 } = this.#options;
    await mkdir(dirname(device), { recursive: true, mode: 0o700 });
    const client = new OpenClawClient({
      url,
      ...definedFields({ token, password }),
      device: await loadDeviceIdentity(device),
      displayName: 'Sluice',
      version,
      logger,
    });
    this.#client = client;
    client.start();
    await client.ready({ timeoutMs, signal: stop });
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.stop();
  }
}
