import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AgentContext, badArguments, CommandError, type MakeAgent } from '@sluice/cli';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import { loadDeviceIdentity, OpenClawAgentProvider, OpenClawClient } from '../../gateway/index.js';

/** Makes the agent behind an OpenClaw gateway. It is a provider of its own, and all of them would have one name. */
export const makeAgent: MakeAgent = async (named, context) => {
  const [agentId = 'main', other] = new Set(named.map(({ rest = 'main' }) => rest));
  if (other !== undefined)
    throw badArguments(
      `the agents "${agentId}" and "${other}" of a gateway cannot answer in one host`,
      'Keep one of them, and start a host of its own for the other.',
    );
  const { logger } = context;
  return new OpenClawAgentProvider({ client: await gatewayClient(context), agentId, logger });
};

/**
 * Makes the one connection of a command to its gateway. A gateway that cannot be reached when the command starts is an error; after
 * that the client connects again by itself.
 *
 * @param timeoutMs milliseconds that the gateway has to let the command in.
 * @throws SluiceError (as a rejection) `bad-client-option`, `bad-device-key` or `gateway-unreachable`; CommandError
 *   `unwritable-file`.
 */
export async function gatewayClient(
  context: Pick<AgentContext, 'gateway' | 'logger' | 'version' | 'stop' | 'scope'>,
  timeoutMs = 10_000,
): Promise<OpenClawClient> {
  const { gateway, logger, version, stop, scope } = context;
  const { url, token, password, device } = gateway;
  if (device === undefined) throw noPlace('this user has no home');
  await mkdir(dirname(device), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw noPlace(oneLine(cause), cause);
  });
  const client = new OpenClawClient({
    ...{ url, displayName: 'Sluice', version, logger },
    ...definedFields({ token, password }),
    device: await loadDeviceIdentity(device),
  });
  scope.add('gateway', () => client.stop());
  client.start();
  await client.ready({ timeoutMs, signal: stop });
  return client;
}

function noPlace(why: string, cause?: unknown): CommandError {
  return new CommandError(
    'unwritable-file',
    `there is no place for the key by which the gateway knows this host: ${why}`,
    'Name one that this user may write to, gateway: { device: "./openclaw-device.pem" } in the config, or set HOME.',
    { cause },
  );
}
