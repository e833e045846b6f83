import { definedFields } from 'sluice-kernel/internal';
import type { DeviceIdentity } from '../device/device-identity.js';
import { maxProtocol, minProtocol } from './protocols.js';

/** How a client presents itself. */
export interface ClientIntroduction {
  /** The gateway's shared token. It reaches no log and no error. */
  readonly token?: string;
  /** The gateway's password, if it has one instead of a token. */
  readonly password?: string;
  /**
   * Without one a gateway of protocol 3 lets the client in, and then refuses it every request; one of protocol 4 says which
   * scopes it has. See `loadDeviceIdentity`.
   */
  readonly device?: DeviceIdentity;
  /** The permissions that the client asks for; `operator.read` and `operator.write` by default. */
  readonly scopes?: readonly string[];
  /** One of the ids that the gateway knows; `gateway-client` by default. */
  readonly clientId?: string;
  /** One of the modes that the gateway knows; `backend` by default. */
  readonly clientMode?: string;
  readonly displayName?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly locale?: string;
}

/** The permissions that a client asks for. */
export function scopesOf({
  scopes = ['operator.read', 'operator.write'],
}: ClientIntroduction): readonly string[] {
  return scopes;
}

/** The role of a client that talks to agents. */
const role = 'operator';

/** The parameters of `connect`. @param nonce of the challenge. @param signedAtMs milliseconds since 1970. */
export function connectParams(client: ClientIntroduction, nonce: string, signedAtMs: number) {
  const { clientId = 'gateway-client', clientMode = 'backend', version = '0' } = client;
  const { platform = process.platform, locale = 'en-US', displayName } = client;
  const { token, password, device } = client;
  const scopes = scopesOf(client);
  /** Proves that the client has the key, by a signature over all that it says of itself. */
  const proofOf = (device: DeviceIdentity) => {
    const { id, publicKey } = device;
    const family = ''; // none is told, and the signature says so
    const signed = [
      'v3',
      id,
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
    return { id, publicKey, signature: device.sign(signed), signedAt: signedAtMs, nonce };
  };
  return {
    minProtocol,
    maxProtocol,
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
      auth: definedFields({ token, password }),
    }),
    ...(device !== undefined && { device: proofOf(device) }),
  };
}
