import { join, resolve } from 'node:path';
import { homeFolder } from '@sluice/sdk/extension/internal';
import { definedFields, type Fields, fieldsOf } from 'sluice-kernel/internal';
import type { GatewaySetting, Shell } from '../shell/shell.js';
import type { LoadedConfig } from './config-file.js';

/** The usual address of a gateway. */
const usualUrl = 'ws://127.0.0.1:18789';

/**
 * Reads the address of the gateway, from the command line or else the config file, and its token and password, from the file
 * or else `OPENCLAW_GATEWAY_TOKEN` and `OPENCLAW_GATEWAY_PASSWORD` of the environment.
 */
export function gatewaySetting(
  url: string | undefined,
  config: LoadedConfig | undefined,
  env: Shell['env'],
): GatewaySetting {
  const { gateway } = config ?? {};
  const given = gatewayAuth(env);
  const { token = given['token'], password = given['password'] } = gateway ?? {};
  const home = homeFolder(env);
  const device =
    gateway?.device === undefined
      ? home && join(home, '.sluice', 'openclaw-device.pem')
      : resolve(config?.folder ?? '.', gateway.device);
  return {
    url: url ?? gateway?.url ?? usualUrl,
    ...(token !== undefined && token !== '' && { token }),
    ...(password !== undefined && password !== '' && { password }),
    ...definedFields({ device }),
  };
}

/** The token and the password of a gateway that the environment has. */
export function gatewayAuth(env: Shell['env']): Readonly<Record<string, string>> {
  const { OPENCLAW_GATEWAY_TOKEN: token, OPENCLAW_GATEWAY_PASSWORD: password } = env;
  return definedFields({ token: token || undefined, password: password || undefined });
}

/** An OpenClaw configuration: what its `gateway.auth` lacks comes from the environment, as OpenClaw's gateway reads it. */
export function withGatewayAuth(openclaw: Fields, env: Shell['env']): Fields {
  const given = gatewayAuth(env);
  if (Object.keys(given).length === 0) return openclaw;
  const gateway = fieldsOf(openclaw['gateway']);
  return { ...openclaw, gateway: { ...gateway, auth: { ...given, ...fieldsOf(gateway['auth']) } } };
}
