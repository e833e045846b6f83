import { definedFields } from '../../kernel/index.js';
import type { DeviceIdentity } from '../device/device-identity.js';
import { protocolVersion } from './hello.js';

/** How a client presents itself. */
export interface ClientIntroduction {
  readonly clientId: string;
  readonly clientMode: string;
  readonly version: string;
  readonly platform: string;
  readonly displayName?: string;
  readonly locale: string;
  readonly scopes: readonly string[];
  readonly token?: string;
  readonly password?: string;
  readonly device?: DeviceIdentity;
}

/** The role of a client that talks to agents. */
const role = 'operator';

/** The parameters of `connect`. @param nonce of the challenge. @param signedAtMs milliseconds since 1970. */
export function connectParams(client: ClientIntroduction, nonce: string, signedAtMs: number) {
  const { clientId, clientMode, version, platform, displayName, locale, scopes } = client;
  const { token, password, device } = client;
  return {
    minProtocol: protocolVersion,
    maxProtocol: protocolVersion,
    client: {
      id: clientId,
      version,
      platform,
      mode: clientMode,
      ...definedFields({ displayName }),
    },
    role,
    scopes,
    caps: ['tool-events'],
    locale,
    ...((token !== undefined || password !== undefined) && {
      auth: {
        ...definedFields({ token, password }),
      },
    }),
    ...(device !== undefined && { device: proofOf(device, client, nonce, signedAtMs) }),
  };
}

/** Proves that the client has the key, by a signature over all that it says of itself. */
function proofOf(
  device: DeviceIdentity,
  { clientId, clientMode, platform, scopes, token }: ClientIntroduction,
  nonce: string,
  signedAtMs: number,
) {
  const family = ''; // none is told, and the signature says so
  const signed = [
    'v3',
    device.id,
    clientId,
    clientMode,
    role,
    scopes.join(','),
    String(signedAtMs),
    token ?? '',
    nonce,
    platform.trim().toLowerCase(),
    family,
  ].join('|');
  return {
    id: device.id,
    publicKey: device.publicKey,
    signature: device.sign(signed),
    signedAt: signedAtMs,
    nonce,
  };
}
