import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from '../../../cli/errors/command-error.js';
import type { GatewaySetting } from '../../../cli/settings/gateway-setting.js';
import type { Shell } from '../../../cli/shell/shell.js';
import { definedFields, type Logger, oneLine } from '../../../kernel/index.js';
import type { OpenClawClient } from '../../gateway/index.js';

/**
 * Makes the one connection of a command to an OpenClaw gateway: it connects when the first agent needs it.
 *
 * @param timeoutMs milliseconds that the gateway has to let the command in.
 */
export function gatewayLink(
  { url, token, password, device }: GatewaySetting,
  { logger, version, stop }: Pick<Shell, 'version' | 'stop'> & { readonly logger: Logger },
  timeoutMs = 10_000,
) {
  let client: OpenClawClient | undefined;
  return {
    /**
     * Returns the client, connected. A gateway that cannot be reached when the command starts is an error; after that the
     * client connects again by itself.
     *
     * @throws SluiceError `bad-client-option`, `bad-device-key` or `gateway-unreachable`; CommandError `unwritable-file`.
     */
    client: async (): Promise<OpenClawClient> => {
      if (client !== undefined) return client;
      const gateway = await import('../../gateway/index.js'); // most commands need none
      if (device === undefined) throw noPlace('this user has no home');
      await mkdir(dirname(device), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
        throw noPlace(oneLine(cause), cause);
      });
      client = new gateway.OpenClawClient({
        ...{ url, displayName: 'Sluice', version, logger },
        ...definedFields({ token, password }),
        device: await gateway.loadDeviceIdentity(device),
      });
      client.start();
      await client.ready({ timeoutMs, signal: stop });
      return client;
    },
    [Symbol.asyncDispose]: async () => client?.stop(),
  };
}

function noPlace(why: string, cause?: unknown): CommandError {
  return new CommandError(
    'unwritable-file',
    `there is no place for the key by which the gateway knows this host: ${why}`,
    'Name one that this user may write to, gateway: { device: "./openclaw-device.pem" } in the config, or set HOME.',
    { cause },
  );
}
