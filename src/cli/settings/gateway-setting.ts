import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LoadedConfig } from './config-file.js';

/** The OpenClaw gateway of the agents `openclaw`. */
export interface GatewaySetting {
  /** `ws://` for this machine, `wss://` for any. */
  readonly url: string;
  readonly token?: string;
  readonly password?: string;
  /** The file of the key that this host is known by. It is made if it is missing. */
  readonly device: string;
}

/** The usual address of a gateway. */
const usualUrl = 'ws://127.0.0.1:18789';

/**
 * Reads the address of the gateway, from the command line or else the config file, and its token and password, from the file
 * or else `OPENCLAW_GATEWAY_TOKEN` and `OPENCLAW_GATEWAY_PASSWORD` of the environment.
 */
export function gatewaySetting(
  url: string | undefined,
  config: LoadedConfig | undefined,
  env: Readonly<Record<string, string | undefined>>,
): GatewaySetting {
  const { gateway } = config ?? {};
  const token = gateway?.token ?? env['OPENCLAW_GATEWAY_TOKEN'];
  const password = gateway?.password ?? env['OPENCLAW_GATEWAY_PASSWORD'];
  const device =
    gateway?.device === undefined
      ? join(env['HOME'] ?? homedir(), '.sluice', 'openclaw-device.pem')
      : resolve(config?.folder ?? '.', gateway.device);
  return {
    url: url ?? gateway?.url ?? usualUrl,
    ...(token !== undefined && token !== '' && { token }),
    ...(password !== undefined && password !== '' && { password }),
    device,
  };
}
