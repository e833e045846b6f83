import { join } from 'node:path';
import type { HostConfig } from '@sluice/host/internal';
import { homeFolder } from '@sluice/sdk/extension/internal';
import { definedFields, type Fields, fieldsOf } from 'sluice-kernel/internal';
import type { GatewaySetting, Shell } from '../shell/shell.js';

/** The usual address of a gateway. */
const usualUrl = 'ws://127.0.0.1:18789';

/**
 * Reads the address of the gateway, and its token and password, from the config file or else from `OPENCLAW_GATEWAY_TOKEN` and
 * `OPENCLAW_GATEWAY_PASSWORD` of the environment.
 */
export function gatewaySetting(
  gateway: HostConfig['gateway'] = {},
  env: Shell['env'],
): GatewaySetting {
  const given = gatewayAuth(env);
  const home = homeFolder(env);
  const usualDevice = home && join(home, '.sluice', 'openclaw-device.pem');
  const { url = usualUrl, device = usualDevice } = gateway;
  const { token = given['token'], password = given['password'] } = gateway;
  return {
    url,
    ...definedFields({ device, token: token || undefined, password: password || undefined }),
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
